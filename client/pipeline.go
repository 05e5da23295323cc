package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/value"
)

// maxSourceInQuery bounds a source that is sent in the query, besides a body.
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
// and who may do what. The name is that of the stored pipeline that it belongs to,
// if there is one. Roles, as JSON by name, are assumed to be stored; "" assumes none.
func (c *Client) Lint(ctx context.Context, name, source, roles string) (found sluice.LintResult, err error) {
	params := url.Values{}
	if roles != "" {
		params.Set("roles", roles)
	}
	if name != "" {
		params.Set("name", name)
	}
	return found, c.Decode(ctx, "pipeline.lint", params, sourceBody(source), &found)
}

// SourceOf returns the content of a file as a source. Nothing becomes a comment:
// without a body the server would miss the source, and not find it empty.
func SourceOf(content string) string {
	if strings.TrimSpace(content) == "" {
		return "#"
	}
	return content
}

func sourceBody(source string) *Body { return &Body{Content: []byte(SourceOf(source))} }

// PipelineSource returns the source of a stored pipeline, and its tag for a change
// that must replace no other source. Version "" and 0 are the current one.
func (c *Client) PipelineSource(ctx context.Context, name, version string) (source, tag string, err error) {
	path := sluice.PipelinePath + "/" + url.PathEscape(name)
	if version != "" && version != "0" {
		path += "?version=" + version
	}
	answer, err := c.do(ctx, request{path: path})
	if err != nil {
		return "", "", err
	}
	return string(answer.Body), answer.Header.Get("ETag"), nil
}

// PipelineVersions returns the kept versions of a pipeline, newest first. There is at
// least the current one.
func (c *Client) PipelineVersions(ctx context.Context, name string) (versions []sluice.VersionView, err error) {
	return versions, c.Decode(ctx, "pipeline.versions", url.Values{"name": {name}}, nil, &versions)
}

// Try tries a draft on past events.
func (c *Client) Try(ctx context.Context, source string, params url.Values) (found sluice.TryResult, err error) {
	return found, c.Decode(ctx, "pipeline.try", params, sourceBody(source), &found)
}

// RunPipeline runs a stored pipeline and returns its final body.
func (c *Client) RunPipeline(ctx context.Context, name string, vars url.Values, body *Body) (Answer, error) {
	return c.post(ctx, sluice.PipelinePath+"/"+url.PathEscape(name), vars, body)
}

// RunSource runs a pipeline that is not stored and returns its final body.
func (c *Client) RunSource(ctx context.Context, source string, vars url.Values, body *Body) (Answer, error) {
	if body == nil {
		return c.post(ctx, sluice.PipelinePath, vars, sourceBody(source))
	}
	if len(source) > maxSourceInQuery {
		return Answer{}, sluice.CodeSourceTooLong.Errorf("A pipeline that is not stored can be at most %d "+
			"bytes long where the run has a body; store it with sluice pipeline put first.", maxSourceInQuery)
	}
	named := make(map[string]string, len(vars))
	for name := range vars {
		named[name] = vars.Get(name)
	}
	text, err := value.Marshal(named)
	if err != nil {
		return Answer{}, err
	}
	return c.Command(ctx, "pipeline.run", url.Values{"source": {SourceOf(source)}, "vars": {string(text)}}, body)
}
