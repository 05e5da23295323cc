package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// openAPI is what is read of the server's description.
type openAPI struct {
	Info struct {
		Version string `json:"version"`
	} `json:"info"`
	Paths      map[string]pathItem `json:"paths"`
	Components struct {
		Schemes map[string]struct {
			OpenID string `json:"openIdConnectUrl"`
		} `json:"securitySchemes"`
	} `json:"components"`
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
		Required    bool   `json:"x-required"`
		Description string `json:"description"`
		Schema      struct {
			Type any   `json:"type"` // a newer server may have several
			Enum []any `json:"enum"`
		} `json:"schema"`
	} `json:"parameters"`
	Body struct {
		Parameter   string `json:"x-parameter"`
		Description string `json:"description"`
	} `json:"requestBody"`
}

// Describe asks the server what it can do. It needs no credentials.
func (c *Client) Describe(ctx context.Context) (Description, error) {
	answer, err := c.do(ctx, request{method: http.MethodGet, path: sluice.OpenAPIPath, open: true})
	if err != nil {
		return Description{}, err
	}
	var document openAPI
	if err := json.Unmarshal(answer.Body, &document); err != nil || document.Paths == nil {
		return Description{}, sluice.Errorf(sluice.Unavailable, "not-a-server", "What answers at %s is not sluice; check the URL.", c.url).Because(err)
	}
	d := Description{Version: document.Info.Version}
	for _, scheme := range document.Components.Schemes {
		if scheme.OpenID != "" {
			d.issuer = strings.TrimSuffix(scheme.OpenID, "/.well-known/openid-configuration")
		}
	}
	for path, item := range document.Paths {
		if name, ok := strings.CutPrefix(path, sluice.CommandPath); ok {
			d.Commands = append(d.Commands, commandOf(name, item))
		}
	}
	slices.SortFunc(d.Commands, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return d, nil
}

func commandOf(name string, item pathItem) Command {
	post := item.Post
	c := Command{Name: name, Summary: post.Summary, ReadOnly: item.Get != nil, Params: []Param{}}
	c.Open = post.Security != nil && len(*post.Security) == 0
	for _, p := range post.Parameters {
		param := Param{Name: p.Name, Alias: p.Alias, Required: p.Required, Doc: p.Description}
		param.Type, _ = p.Schema.Type.(string)
		for _, value := range p.Schema.Enum {
			param.Enum = append(param.Enum, fmt.Sprint(value))
		}
		c.Params = append(c.Params, param)
	}
	if post.Body.Parameter != "" || c.Open {
		c.Body = post.Body.Description
	}
	return c
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
	hint := "sluice command lists those there are"
	if near := spelling.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return Command{}, sluice.Errorf(sluice.NotFound, "command-unknown", "The server has no command %s; %s", name, hint)
}
