package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

// clientID is the command line's id at the issuer of tokens.
const clientID = "sluice"

// tokens are what the issuer gives.
type tokens struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	ExpiresIn int    `json:"expires_in"`
}

// ownIssuer returns the path of the server's own issuer of tokens.
func (c *Client) ownIssuer(ctx context.Context) (string, error) {
	issuer, err := c.issuer(ctx)
	switch {
	case err != nil:
		return "", err
	case issuer == "":
		return "", sluice.Errorf(sluice.CodeNoIssuer,
			"The server gives no tokens; set SLUICE_USERNAME and SLUICE_PASSWORD instead of logging in.")
	case !strings.HasPrefix(issuer, "/"):
		return "", sluice.Errorf(sluice.CodeExternalUsers,
			"The server's users are those of %s: get a token there and set SLUICE_TOKEN.", issuer).
			OfKind(sluice.Unauthenticated)
	}
	return issuer, nil
}

// issuer asks the server who issues its tokens: it returns the path of its own issuer, the
// URL of another one, or "" if there is none.
func (c *Client) issuer(ctx context.Context) (issuer string, err error) {
	answer, err := c.do(ctx, request{path: sluice.OpenAPIPath, open: true})
	if err != nil {
		return "", err
	}
	var document struct {
		Paths      json.RawMessage `json:"paths"`
		Components struct {
			Schemes map[string]struct {
				OpenID string `json:"openIdConnectUrl"`
				Path   string `json:"x-path"` // of the server's own issuer
			} `json:"securitySchemes"`
		} `json:"components"`
	}
	if err := json.Unmarshal(answer.Body, &document); err != nil || document.Paths == nil {
		return "", sluice.Errorf(sluice.CodeNotAServer, "What answers at %s is not sluice; check the URL.", c.url).
			Because(err)
	}
	for _, scheme := range document.Components.Schemes {
		if scheme.OpenID != "" {
			issuer = strings.TrimSuffix(cmp.Or(scheme.Path, scheme.OpenID), sluice.OpenIDPath)
		}
	}
	return issuer, nil
}

// metadata is the part of an issuer's description that we need.
type metadata struct {
	Issuer    string `json:"issuer"`
	Authorize string `json:"authorization_endpoint"`
	Token     string `json:"token_endpoint"`
}

// discover asks the issuer at a path to describe itself.
func (c *Client) discover(ctx context.Context, issuer string) (document metadata, err error) {
	answer, err := c.do(ctx, request{path: issuer + sluice.OpenIDPath, open: true})
	if err != nil {
		return document, err
	}
	return document, answer.decode(&document, sluice.CodeIssuerMalformed,
		"The issuer %s does not say where it gives tokens.", c.url)
}

// token posts a form to one of the issuer's endpoints.
func (c *Client) token(ctx context.Context, issuer, endpoint string, form url.Values) (tokens, error) {
	if !form.Has("client_id") {
		form.Set("client_id", clientID)
	}
	answer, err := c.postForm(ctx, issuer+"/protocol/openid-connect/"+endpoint, form)
	if err != nil || endpoint != "token" {
		return tokens{}, err
	}
	return readTokens(answer)
}

// postForm sends a form without credentials.
func (c *Client) postForm(ctx context.Context, path string, form url.Values) (Answer, error) {
	return c.do(ctx, request{
		method: http.MethodPost,
		path:   path,
		body:   []byte(form.Encode()),
		header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		open:   true,
	})
}

func readTokens(answer Answer) (tokens, error) {
	var got tokens
	if err := json.Unmarshal(answer.Body, &got); err != nil || got.Access == "" {
		return tokens{},
			sluice.Errorf(sluice.CodeTokenMalformed, "The server gave no tokens; is there a sluice at this URL?").
				Because(err)
	}
	return got, nil
}
