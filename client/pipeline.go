package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// maxSourceInQuery bounds a source that travels beside a body.
const maxSourceInQuery = 16 << 10

// PutPipeline stores a pipeline. With force it is stored although steps would be
// refused when it runs.
func (c *Client) PutPipeline(ctx context.Context, name, source string, force bool) (Answer, error) {
	path := sluice.PipelinePath + "/" + url.PathEscape(name)
	if force {
		path += "?force=true"
	}
	return c.do(ctx, request{method: http.MethodPut, path: path, body: []byte(source)})
}

// Lint lets the server check the source of a pipeline: it knows its own commands,
// and who may do what. The name is that of the stored pipeline which it is meant
// for, "" if it is for none.
func (c *Client) Lint(ctx context.Context, name, source string) (found sluice.LintResult, err error) {
	params := url.Values{}
	if name != "" {
		params.Set("name", name)
	}
	answer, err := c.Command(ctx, "pipeline.lint", params, sourceBody(source))
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(answer.Body, &found)
}

// SourceOf returns the content of a file as a source. One with nothing in it
// becomes a comment: without a body there would be no source at all, not one with
// the mistake that it is empty.
func SourceOf(content string) string {
	if strings.TrimSpace(content) == "" {
		return "#"
	}
	return content
}

func sourceBody(source string) *Body { return &Body{Content: []byte(SourceOf(source))} }

// PipelineSource returns the source of a stored pipeline with its tag, by which a
// change can be made to that source alone. Version 0 is the current one.
func (c *Client) PipelineSource(ctx context.Context, name string, version int) (source, tag string, err error) {
	path := sluice.PipelinePath + "/" + url.PathEscape(name)
	if version != 0 {
		path += "?version=" + strconv.Itoa(version)
	}
	answer, err := c.do(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return "", "", err
	}
	return string(answer.Body), answer.Header.Get("ETag"), nil
}

// A PipelineVersion tells who stored a version of a pipeline, and when.
type PipelineVersion struct {
	Version int       `json:"version"`
	Owner   string    `json:"owner"`
	Time    time.Time `json:"time"`
	Current bool      `json:"current"`
}

// PipelineVersions returns the versions of a pipeline that are kept, newest first:
// there is at least the current one.
func (c *Client) PipelineVersions(ctx context.Context, name string) (versions []PipelineVersion, err error) {
	answer, err := c.Command(ctx, "pipeline.versions", url.Values{"name": {name}}, nil)
	if err != nil {
		return nil, err
	}
	return versions, json.Unmarshal(answer.Body, &versions)
}

// Try tries a draft on past events.
func (c *Client) Try(ctx context.Context, source string, params url.Values) (found sluice.TryResult, err error) {
	answer, err := c.Command(ctx, "pipeline.try", params, sourceBody(source))
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(answer.Body, &found)
}

// RunPipeline runs a stored pipeline and returns its final body.
func (c *Client) RunPipeline(ctx context.Context, name string, vars url.Values, body *Body) (Answer, error) {
	return c.run(ctx, sluice.PipelinePath+"/"+url.PathEscape(name), vars, body)
}

// RunSource runs a pipeline that is not stored and returns its final body.
func (c *Client) RunSource(ctx context.Context, source string, vars url.Values, body *Body) (Answer, error) {
	if body == nil {
		return c.run(ctx, sluice.PipelinePath, vars, sourceBody(source))
	}
	if len(source) > maxSourceInQuery {
		return Answer{}, sluice.Errorf(sluice.CodeSourceTooLong, "A pipeline that is not stored can be at most %d bytes long where the run has a body; store it with sluice pipeline put first.", maxSourceInQuery)
	}
	named := make(map[string]string, len(vars))
	for name := range vars {
		named[name] = vars.Get(name)
	}
	text, err := json.Marshal(named)
	if err != nil {
		return Answer{}, err
	}
	return c.Command(ctx, "pipeline.run", url.Values{"source": {SourceOf(source)}, "vars": {string(text)}}, body)
}

func (c *Client) run(ctx context.Context, path string, vars url.Values, body *Body) (Answer, error) {
	r := request{method: http.MethodPost, path: path, header: http.Header{}}
	if len(vars) > 0 {
		r.path += "?" + vars.Encode()
	}
	if body != nil {
		r.body = body.Content
		if body.ContentType != "" {
			r.header.Set("Content-Type", body.ContentType)
		}
	}
	return c.do(ctx, r)
}
