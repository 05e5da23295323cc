package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
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
		return "", sluice.CodeNoIssuer.Errorf(
			"The server gives no tokens; set SLUICE_USERNAME and SLUICE_PASSWORD instead of logging in.")
	case !strings.HasPrefix(issuer, "/"):
		return "", sluice.CodeExternalUsers.Errorf("The server's users are those of %s: sign in there with "+
			"sluice login, without a name and a password, or set SLUICE_USERNAME and SLUICE_PASSWORD instead.", issuer).
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
		return "", sluice.CodeNotAServer.Errorf("What answers at %s is not sluice; check the URL.", c.url).
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
	Issuer    string   `json:"issuer"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Device    string   `json:"device_authorization_endpoint"`
	Revoke    string   `json:"revocation_endpoint"`
	Scopes    []string `json:"scopes_supported"`
}

// external describes an issuer that is not the server's own, and a login there that has no tokens yet.
// The error says what to do if the command line is no client of it.
func (c *Client) external(ctx context.Context) (login Login, document metadata, err error) {
	answer, err := c.do(ctx, request{path: sluice.CommandPath + "server.info", open: true})
	if err != nil {
		return login, document, err
	}
	var told struct {
		Issuer string `json:"issuer"` // to the letter, as it calls itself
		Client string `json:"cliClient"`
	}
	if err := json.Unmarshal(answer.Body, &told); err != nil || told.Client == "" {
		return login, document,
			sluice.CodeExternalUsers.Errorf("The server's users are those of %s, and it names "+
				"no client with which the command line could sign in there. Ask its operator to set "+
				"--auth-cli-client, or "+
				"get a token there and set SLUICE_TOKEN.", told.Issuer).OfKind(sluice.Unauthenticated).Because(err)
	}
	document, err = c.at(strings.TrimSuffix(told.Issuer, "/")).discover(ctx, "")
	if err == nil && document.Issuer != told.Issuer {
		err = sluice.CodeIssuerMalformed.Errorf("The issuer %s calls itself %s.", told.Issuer, document.Issuer)
	}
	return Login{
		URL: c.url, Issuer: told.Issuer, Client: told.Client, TokenURL: document.Token, RevokeURL: document.Revoke,
	}, document, err
}

// issuedBy describes who issues the server's tokens, and a login there that has none yet.
func (c *Client) issuedBy(ctx context.Context) (login Login, document metadata, err error) {
	issuer, err := c.ownIssuer(ctx)
	switch {
	case sluice.CodeExternalUsers.Is(err):
		return c.external(ctx)
	case err != nil:
		return login, document, err
	}
	if document, err = c.discover(ctx, issuer); err != nil || document.Authorize == "" {
		return login, document, err
	}
	// The browser goes to the URL by which we reach the server, which may differ from the one that
	// the server believes it has.
	document.Authorize = c.url + strings.TrimPrefix(document.Authorize, strings.TrimSuffix(document.Issuer, issuer))
	document.Scopes = []string{"profile"}
	return Login{URL: c.url, Issuer: issuer}, document, nil
}

// at returns a client without credentials of what is at another URL.
func (c *Client) at(url string) *Client { return &Client{url: url, http: c.http} }

// scope returns the scopes to ask for: those with names, roles and refresh tokens that the issuer
// knows. Some issuers refuse requests for others.
func (m metadata) scope() []string {
	wanted := []string{"openid", "profile", "email", "groups", "roles", "offline_access"}
	return slices.DeleteFunc(wanted, func(s string) bool { return s != "openid" && !slices.Contains(m.Scopes, s) })
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

// token asks at a URL for tokens.
func (c *Client) token(ctx context.Context, url string, form url.Values) (tokens, error) {
	answer, err := c.at(url).postForm(ctx, form)
	if err != nil {
		return tokens{}, err
	}
	var got tokens
	if err := json.Unmarshal(answer.Body, &got); err != nil || got.Access == "" {
		return tokens{},
			sluice.CodeTokenMalformed.Errorf("The server gave no tokens; is there a sluice at this URL?").
				Because(err)
	}
	return got, nil
}

// endpoint returns the URL of an endpoint of the server's own issuer.
func (l *Login) endpoint(name string) string {
	return l.URL + l.Issuer + "/protocol/openid-connect/" + name
}

// postForm sends a form without credentials.
func (c *Client) postForm(ctx context.Context, values url.Values) (Answer, error) {
	r := form("", values)
	r.open = true
	return c.do(ctx, r)
}
