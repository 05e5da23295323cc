package outward

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sync/singleflight"

	"sluice/limit"
)

// Bounds of what is kept in memory for calls with credentials.
const (
	maxTokens       = 1024
	maxCertificates = 64
	certificateKept = time.Hour
)

// Credentials lend the credentials of others to calls: tokens that are fetched and kept, signatures
// and certificates.
type Credentials struct {
	plain     *http.Transport
	tokens    *limit.Cache[string, string]
	flight    singleflight.Group
	certified *limit.Cache[string, *http.Transport]
}

// NewCredentials returns credentials for the calls of a transport.
func NewCredentials(transport *http.Transport) *Credentials {
	return &Credentials{
		plain: transport, tokens: limit.NewCache[string, string](maxTokens),
		certified: limit.NewCache[string, *http.Transport](maxCertificates),
	}
}

// A Secrets reveals a secret by its name, and hides what was made of it from people.
type Secrets struct {
	Reveal func(name string) (string, error)
	Hide   func(text string)
}

// A SecretError says what is wrong with the named secret, and nothing of what it is.
type SecretError struct{ Name, Fault string }

func (e SecretError) Error() string { return fmt.Sprintf("the secret %q %s", e.Name, e.Fault) }

// Carrying returns a client as given for one call to a target, which carries credentials there
// and not to other origins, and the URL that it asks for a token, "" if there is none.
func (c *Credentials) Carrying(
	client *http.Client, a Auth, target *url.URL, s Secrets,
) (carrying *http.Client, asks string, err error) {
	carrier := &carrier{home: c.plain, target: target}
	if a.certificate != "" {
		chain, err := s.Reveal(a.certificate)
		if err != nil {
			return nil, "", err
		}
		if carrier.home, err = c.certify(target, chain); err != nil {
			return nil, "", SecretError{a.certificate, "must be a certificate and its key in PEM"}
		}
	}
	carrier.away = c.plain
	if a.kind != "" {
		secret, err := s.Reveal(a.secret)
		if err != nil {
			return nil, "", err
		}
		if carrier.put, asks, err = c.putter(a, secret, s.Hide); err != nil {
			return nil, "", err
		}
		carrier.renews = a.kind == "oauth2" || a.kind == "google"
	}
	with := *client
	with.Transport = carrier
	return &with, asks, nil
}

// certify returns the transport for the calls of an origin with a certificate.
func (c *Credentials) certify(target *url.URL, chain string) (*http.Transport, error) {
	key, now := digest(target.Scheme, target.Host, chain), time.Now()
	if transport, ok := c.certified.Get(key, now); ok {
		return transport, nil
	}
	pair, err := tls.X509KeyPair([]byte(chain), []byte(chain))
	if err != nil {
		return nil, err
	}
	transport := c.plain.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	c.certified.Put(key, transport, now.Add(certificateKept))
	return transport, nil
}

// A putter puts credentials into a request that is not sent yet. refused is the header of which
// the target wants to know no more, "" at first.
type putter func(r *http.Request, refused string) error

// putter returns how a kind of credential is put into requests, and the URL that is asked for a token.
func (c *Credentials) putter(a Auth, secret string, hide func(string)) (put putter, asks string, err error) {
	if (a.kind == "bearer" || a.kind == "aws") && !isLine(secret) {
		return nil, "", SecretError{a.secret, "must be one line"}
	}
	switch a.kind {
	case "bearer":
		return func(r *http.Request, _ string) error { authorize(r, "Bearer "+secret); return nil }, "", nil
	case "basic":
		user, password, ok := strings.Cut(secret, ":")
		if !ok {
			return nil, "", SecretError{a.secret, "must be user:password"}
		}
		hide(password)
		return func(r *http.Request, _ string) error { r.SetBasicAuth(user, password); return nil }, "", nil
	case "aws":
		parts := strings.SplitN(secret, ":", 3)
		if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
			return nil, "", SecretError{a.secret, "must be ACCESSKEY:SECRET or ACCESSKEY:SECRET:SESSION"}
		}
		key := awsKey{id: parts[0], secret: parts[1], service: a.fields["service"], region: a.fields["region"]}
		hide(key.secret)
		if len(parts) > 2 {
			key.session = parts[2]
			hide(key.session)
		}
		return func(r *http.Request, _ string) error { return key.sign(r, time.Now()) }, "", nil
	}
	source, err := sourceOf(a, secret)
	if err != nil {
		return nil, "", err
	}
	return func(r *http.Request, refused string) error {
		token, err := c.token(r.Context(), source, strings.TrimPrefix(refused, "Bearer "))
		if err != nil {
			return err
		}
		hide(token)
		authorize(r, "Bearer "+token)
		return nil
	}, source.url, nil
}

// isLine reports whether a text can stand in a header.
func isLine(text string) bool { return !strings.ContainsFunc(text, unicode.IsControl) }

func authorize(r *http.Request, value string) { r.Header.Set("Authorization", value) }

// A carrier is the transport of one call and its redirects.
type carrier struct {
	home, away *http.Transport // for the origin of the call, and for all others
	target     *url.URL
	put        putter // nil: there is nothing to put
	renews     bool   // a 401 may mean that a new token is needed
	left       bool   // a redirect has led elsewhere
}

// RoundTrip implements http.RoundTripper.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.left = c.left || !sameOrigin(r.URL, c.target); c.left {
		return c.away.RoundTrip(r)
	}
	if c.put == nil {
		return c.home.RoundTrip(r)
	}
	sent, response, err := c.try(r, "")
	if err != nil || !c.renews || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	_, _ = io.CopyN(io.Discard, response.Body, maxToken) // so that the connection can be used again
	_ = response.Body.Close()
	_, response, err = c.try(r, sent)
	return response, err
}

// try sends a request with credentials other than the refused one.
func (c *carrier) try(r *http.Request, refused string) (sent string, response *http.Response, err error) {
	with, address := r.WithContext(r.Context()), *r.URL
	with.Header, with.URL = r.Header.Clone(), &address
	if r.GetBody != nil {
		if with.Body, err = r.GetBody(); err != nil {
			return "", nil, err
		}
	}
	if err := c.put(with, refused); err != nil {
		return "", nil, err
	}
	response, err = c.home.RoundTrip(with)
	return with.Header.Get("Authorization"), response, err
}
