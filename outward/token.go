package outward

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/oauth2/jwt"
)

const (
	maxToken     = 64 << 10         // bytes of the reply of a token endpoint
	tokenTimeout = 10 * time.Second // for the whole reply
	tokenEarly   = time.Minute      // before a token expires, it is not used any more
	tokenUsual   = time.Hour        // for which a token is kept that does not say when it expires
)

// A TokenError says that a token endpoint gave no token, without what it said.
type TokenError struct {
	Host   string
	Reply  *http.Response // nil: there was none
	Reason string         // one of the words of RFC 6749, or ""
	Err    error
}

func (e *TokenError) Error() string { return "the token endpoint " + e.Host + " gave no token" }

func (e *TokenError) Unwrap() error { return e.Err }

// A tokenSource is where tokens come from.
type tokenSource struct {
	key, url string // the key is the same for those who want the same
	fetch    func(context.Context) (*oauth2.Token, error)
}

// sourceOf returns where the tokens of an OAuth2 client or of a service account of Google come from.
func sourceOf(a Auth, secret string) (s tokenSource, err error) {
	f := a.fields
	s.key = digest(a.kind, secret, f["url"], f["scope"], f["audience"], f["style"])
	if a.kind == "google" {
		return s, s.ofGoogle(a, secret)
	}
	id, password, ok := strings.Cut(secret, ":")
	if !ok {
		return s, SecretError{a.secret, "must be id:secret of an OAuth2 client"}
	}
	config := clientcredentials.Config{
		ClientID: id, ClientSecret: password, TokenURL: f["url"], AuthStyle: oauth2.AuthStyleInHeader,
		Scopes: strings.Fields(f["scope"]),
	}
	if f["style"] == "body" {
		config.AuthStyle = oauth2.AuthStyleInParams
	}
	if f["audience"] != "" {
		config.EndpointParams = url.Values{"audience": {f["audience"]}}
	}
	s.url, s.fetch = config.TokenURL, config.Token
	return s, nil
}

// ofGoogle reads the JSON of a service account.
func (s *tokenSource) ofGoogle(a Auth, secret string) error {
	var account struct {
		Email string `json:"client_email"`
		ID    string `json:"private_key_id"`
		Key   string `json:"private_key"`
		URL   string `json:"token_uri"`
	}
	err := json.Unmarshal([]byte(secret), &account)
	if err != nil || account.Email == "" || ParseRSA(account.Key) == nil || faultOf(account.URL) != "" {
		return SecretError{
			a.secret, "must be the JSON of a service account, with client_email, private_key and token_uri",
		}
	}
	config := jwt.Config{
		Email: account.Email, PrivateKeyID: account.ID, PrivateKey: []byte(account.Key), TokenURL: account.URL,
		Scopes: strings.Fields(a.fields["scope"]),
	}
	if audience := a.fields["audience"]; audience != "" {
		config.UseIDToken, config.PrivateClaims = true, map[string]any{"target_audience": audience}
	}
	s.url = account.URL
	s.fetch = func(ctx context.Context) (*oauth2.Token, error) { return config.TokenSource(ctx).Token() }
	return nil
}

// ParseRSA reads a private key in PEM, nil if it is none.
func ParseRSA(text string) *rsa.PrivateKey {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil
	}
	older, _ := x509.ParsePKCS1PrivateKey(block.Bytes)
	key, _ := x509.ParsePKCS8PrivateKey(block.Bytes)
	newer, _ := key.(*rsa.PrivateKey)
	return cmp.Or(older, newer)
}

// token returns a token that is kept, unless it is the refused one, or a new one. Who want the same
// at the same time share it.
func (c *Credentials) token(ctx context.Context, s tokenSource, refused string) (string, error) {
	if kept, ok := c.tokens.Get(s.key, time.Now()); ok && kept != refused {
		return kept, nil
	}
	text, err := Share(ctx, &c.flight, s.key, func(ctx context.Context) (string, error) {
		if kept, ok := c.tokens.Get(s.key, time.Now()); ok && kept != refused {
			return kept, nil
		}
		client := Bounded(Client(c.plain, tokenTimeout), maxToken)
		token, err := s.fetch(context.WithValue(ctx, oauth2.HTTPClient, client))
		if err == nil && !isLine(token.AccessToken) {
			err = errors.New("the token is more than one line")
		}
		if err != nil {
			return "", err
		}
		until := token.Expiry
		if until.IsZero() {
			until = time.Now().Add(tokenUsual)
		}
		c.tokens.Put(s.key, token.AccessToken, until.Add(-tokenEarly))
		return token.AccessToken, nil
	})
	if err != nil {
		return "", tokenError(s.url, err)
	}
	return text, nil
}

// tokenError returns what may be told of a failure: neither the reply nor the request.
func tokenError(address string, err error) error {
	e := &TokenError{Err: err}
	if target, err := url.Parse(address); err == nil {
		e.Host = target.Hostname()
	}
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		e.Reply, e.Err = refusal.Response, nil
		switch refusal.ErrorCode {
		case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
			"invalid_scope":
			e.Reason = refusal.ErrorCode
		}
	}
	return e
}

// digest returns a key for what is kept, from which secrets can't be read.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:])
}
