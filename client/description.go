package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/spelling"
)

// A Description is what a server says about itself.
type Description struct {
	Version  string
	Commands []Command // in the order of their names
	issuer   string    // path of its issuer of tokens, or the URL of an external one
}

// A Command is a command as the server describes it.
type Command struct {
	Name     string  `json:"name"`
	Summary  string  `json:"summary"`
	ReadOnly bool    `json:"readOnly"`
	Open     bool    `json:"open,omitempty"` // needs no login
	Body     string  `json:"body,omitempty"` // what the body of a call is
	InQuery  bool    `json:"-"`              // parameters go in the query, since the body is one itself
	Params   []Param `json:"parameters"`
}

// A Param is a parameter of a command.
type Param struct {
	Name     string   `json:"name"`
	Alias    string   `json:"alias,omitempty"`
	Type     string   `json:"type,omitempty"` // "" means any
	Enum     []string `json:"enum,omitempty"`
	Required bool     `json:"required,omitempty"`
	Doc      string   `json:"description"`
}

// openAPI is the part of the server's description that we need.
type openAPI struct {
	Info struct {
		Version string `json:"version"`
	} `json:"info"`
	Paths      map[string]pathItem `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
		Schemes map[string]struct {
			OpenID string `json:"openIdConnectUrl"`
			Path   string `json:"x-path"` // of the server's own issuer
		} `json:"securitySchemes"`
	} `json:"components"`
}

// A schema describes a value, or refers to a schema that does.
type schema struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"` // a newer server may have several
	Enum        []any             `json:"enum"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Alias       string            `json:"x-alias"`
	Order       int               `json:"x-order"`
}

type pathItem struct {
	Get  *operation `json:"get"`
	Post operation  `json:"post"`
}

type operation struct {
	Summary    string      `json:"summary"`
	Security   *[]struct{} `json:"security"`
	Parameters []struct {
		Name        string `json:"name"`
		Alias       string `json:"x-alias"`
		Required    bool   `json:"required"`
		Description string `json:"description"`
		Schema      schema `json:"schema"`
		Content     media  `json:"content"` // instead of the schema, for values written as JSON
	} `json:"parameters"`
	Body struct {
		Parameter   string `json:"x-parameter"`
		Description string `json:"description"`
		Content     media  `json:"content"`
	} `json:"requestBody"`
}

// media has the schema of a value that is written as JSON.
type media struct {
	JSON struct {
		Schema schema `json:"schema"`
	} `json:"application/json"`
}

// Describe asks the server what it can do. Without credentials it tells only of what is
// open to everyone.
func (c *Client) Describe(ctx context.Context) (Description, error) { return c.describe(ctx, false) }

func (c *Client) describe(ctx context.Context, open bool) (Description, error) {
	answer, err := c.do(ctx, request{method: http.MethodGet, path: sluice.OpenAPIPath, open: open})
	if err != nil {
		return Description{}, err
	}
	var document openAPI
	if err := json.Unmarshal(answer.Body, &document); err != nil || document.Paths == nil {
		return Description{}, sluice.Errorf(sluice.CodeNotAServer, "What answers at %s is not sluice; check the URL.", c.url).Because(err)
	}
	d := Description{Version: document.Info.Version}
	for _, scheme := range document.Components.Schemes {
		if scheme.OpenID != "" {
			d.issuer = strings.TrimSuffix(cmp.Or(scheme.Path, scheme.OpenID), sluice.OpenIDPath)
		}
	}
	for path, item := range document.Paths {
		if name, ok := strings.CutPrefix(path, sluice.CommandPath); ok {
			d.Commands = append(d.Commands, document.command(name, item))
		}
	}
	slices.SortFunc(d.Commands, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return d, nil
}

// command returns the command that a path describes. If the body is one parameter,
// the others are in the query; otherwise all are in the body.
func (d *openAPI) command(name string, item pathItem) Command {
	post := item.Post
	c := Command{Name: name, Summary: post.Summary, ReadOnly: item.Get != nil, Params: []Param{}}
	c.Open = post.Security != nil && len(*post.Security) == 0
	c.InQuery = post.Body.Parameter != "" && len(post.Parameters) > 0
	for _, p := range post.Parameters {
		if p.Schema.Type == nil {
			p.Schema = p.Content.JSON.Schema
		}
		c.Params = append(c.Params, paramOf(p.Name, p.Alias, p.Description, p.Required, p.Schema))
	}
	body := d.resolve(post.Body.Content.JSON.Schema)
	inBody := slices.SortedFunc(maps.Keys(body.Properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(body.Properties[a].Order, body.Properties[b].Order), strings.Compare(a, b))
	})
	for _, name := range inBody {
		p := body.Properties[name]
		c.Params = append(c.Params, paramOf(name, p.Alias, p.Description, slices.Contains(body.Required, name), p))
	}
	if post.Body.Parameter != "" || c.Open {
		c.Body = post.Body.Description
	}
	return c
}

// resolve follows a reference to a named schema.
func (d *openAPI) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

func paramOf(name, alias, doc string, required bool, s schema) Param {
	p := Param{Name: name, Alias: alias, Doc: doc, Required: required}
	p.Type, _ = s.Type.(string)
	for _, value := range s.Enum {
		p.Enum = append(p.Enum, fmt.Sprint(value))
	}
	return p
}

// Find returns the command of that name. The error for an unknown name says
// what may have been meant.
func (d Description) Find(name string) (Command, error) {
	names := make([]string, len(d.Commands))
	for i, c := range d.Commands {
		if c.Name == name {
			return c, nil
		}
		names[i] = c.Name
	}
	hint := spelling.Hint(name, names, "sluice command lists those there are")
	return Command{}, sluice.Errorf(sluice.CodeCommandUnknown, "The server has no command %s; %s", name, hint)
}

// A Body is what a call carries besides its parameters.
type Body struct {
	Content     []byte
	ContentType string // "" lets the server detect it
}

// Command calls a command with parameters as text. With a body they go in the
// query, otherwise in the body, which is not logged.
func (c *Client) Command(ctx context.Context, name string, params url.Values, body *Body) (Answer, error) {
	if body == nil {
		return c.do(ctx, plainCommand(name, params))
	}
	return c.post(ctx, sluice.CommandPath+url.PathEscape(name), params, body)
}

// Decode does what Command does, and decodes the answer.
func (c *Client) Decode(ctx context.Context, name string, params url.Values, body *Body, into any) error {
	answer, err := c.Command(ctx, name, params, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return sluice.Errorf(sluice.CodeAnswerMalformed, "The server's answer to %s can't be read.", name).Because(err)
	}
	return nil
}

// post sends a body, if there is one, with parameters in the query.
func (c *Client) post(ctx context.Context, path string, params url.Values, body *Body) (Answer, error) {
	r := request{method: http.MethodPost, path: path, header: http.Header{}}
	if len(params) > 0 {
		r.path += "?" + params.Encode()
	}
	r.carry(body)
	return c.do(ctx, r)
}

// carry gives a request a body, if there is one.
func (r *request) carry(body *Body) {
	if body == nil {
		return
	}
	r.body = body.Content
	if body.ContentType != "" {
		r.header.Set("Content-Type", body.ContentType)
	}
}

// plainCommand returns the request for a command with parameters only.
func plainCommand(name string, params url.Values) request {
	return request{
		method: http.MethodPost, path: sluice.CommandPath + url.PathEscape(name), body: []byte(params.Encode()),
		header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
}

// Download calls a command that answers with bytes. The caller reads and closes them.
func (c *Client) Download(ctx context.Context, name string, params url.Values) (io.ReadCloser, error) {
	response, err := c.open(ctx, plainCommand(name, params))
	if err != nil {
		return nil, err
	}
	if isSuccess(response.StatusCode) {
		return response.Body, nil
	}
	answer, err := c.read(ctx, response)
	if err != nil {
		return nil, err
	}
	return nil, refusal(answer)
}
