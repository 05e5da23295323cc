package oidc

import (
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"

	"sluice"
	"sluice/problem"
	"sluice/value"
)

// An endpoint answers a request, or has written nothing if it fails.
type endpoint func(w http.ResponseWriter, r *http.Request) error

// protocol is the path of most endpoints below the realm.
const protocol = "/protocol/openid-connect"

// Handler serves all paths below /auth/ and the metadata. It takes the request's
// RemoteAddr for the address of the client.
func (i *Issuer) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, serve endpoint, methods ...string) {
		mux.Handle(sluice.RealmsPath+"{namespace}"+path, i.guard(serve, methods))
	}
	read := []string{http.MethodGet, http.MethodHead}
	handle(sluice.OpenIDPath, i.discovery, read...)
	handle(sluice.MetadataPath, i.discovery, read...)
	handle(protocol+"/certs", i.certs, read...)
	handle(protocol+"/token", i.token, http.MethodPost)
	handle(protocol+"/userinfo", i.userinfo, http.MethodGet, http.MethodPost)
	handle(protocol+"/introspect", i.introspect, http.MethodPost)
	handle(protocol+"/revoke", i.revoke, http.MethodPost)
	handle(protocol+"/logout", i.logout, http.MethodGet, http.MethodPost)
	mux.Handle(sluice.MetadataPath, i.guard(i.metadata, read))
	mux.Handle(sluice.MetadataPath+"/{issuer...}", i.guard(i.metadata, read))
	mux.Handle("/", i.guard(notFound, nil))
	return mux
}

// guard does what every request needs, before it reaches its endpoint.
func (i *Issuer) guard(serve endpoint, methods []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Pragma", "no-cache")
		r = r.WithContext(sluice.WithUser(r.Context(), sluice.User{Address: r.RemoteAddr}))
		err := i.admit(r, methods)
		if err == nil {
			err = serve(w, r)
		}
		if err != nil {
			i.fail(w, r, err)
		}
	})
}

func (i *Issuer) admit(r *http.Request, methods []string) error {
	if realm := r.PathValue("namespace"); realm != "" && realm != i.Namespace || methods == nil {
		return notFound(nil, r)
	}
	if !slices.Contains(methods, r.Method) {
		allow := strings.Join(methods, ", ")
		return sluice.Errorf(sluice.CodeInvalidRequest, "This method is not allowed here; use %s.", allow).OfKind(sluice.MethodNotAllowed).Allowing(allow)
	}
	return nil
}

func notFound(http.ResponseWriter, *http.Request) error {
	return sluice.Errorf(sluice.CodeOAuthNotFound, "There is nothing at this path.")
}

// codeOf returns the error code that OAuth has for a failure. Failures that are not about
// the request have codes of their own.
func codeOf(e *sluice.Error) string {
	switch e.Kind {
	case sluice.Throttled:
		return "slow_down"
	case sluice.Unavailable:
		return "temporarily_unavailable"
	case sluice.Internal:
		return "server_error"
	}
	return e.Code
}

// fail answers a request with an error (RFC 6749, 5.2).
func (i *Issuer) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := sluice.AsError(err)
	status := problem.Status(e)
	if status >= http.StatusInternalServerError && e.Err != nil {
		i.Log.Error("A request for tokens failed.", "path", r.URL.Path, "code", e.Code, "error", e.Err)
	}
	problem.SetHeaders(w.Header(), r, e)
	writeJSON(w, status, map[string]string{"error": codeOf(e), "error_description": strings.Map(descriptive, e.Message)})
}

// descriptive replaces the characters that a description may not have.
func descriptive(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return '\''
	}
	return r
}

// writeJSON writes a value that has a JSON form. An error means that the caller
// has gone.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = value.Encode(w, v)
}

const (
	maxForm     = 64 << 10
	formTimeout = 10 * time.Second
)

// readForm reads the parameters of a request. They come in the body only, since
// a URL ends up in logs, and each at most once. One without a value counts as
// not given (RFC 6749, 3.2).
func readForm(w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return nil, invalidRequest("The content type must be application/x-www-form-urlencoded.")
	}
	if r.URL.RawQuery != "" {
		return nil, invalidRequest("Parameters belong into the body, not into the URL.")
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	return parseForm(body)
}

func readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	deadline := time.Now().Add(formTimeout)
	if err := http.NewResponseController(w).SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return "", err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err == nil {
		return string(body), nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return "", sluice.Errorf(sluice.CodeInvalidRequest, "The body is larger than %d bytes.", maxForm).OfKind(sluice.TooLarge)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", sluice.Errorf(sluice.CodeInvalidRequest, "The body took too long to arrive.").OfKind(sluice.Timeout).Closing()
	}
	return "", invalidRequest("The body could not be read.")
}

// parseForm reads a form-encoded body.
func parseForm(body string) (map[string]string, error) {
	values, err := url.ParseQuery(body)
	if err != nil {
		return nil, invalidRequest("The parameters are not form-encoded.")
	}
	form := make(map[string]string, len(values))
	for name, given := range values {
		if len(given) > 1 {
			return nil, invalidRequest("A parameter is given more than once.")
		}
		if !plain(given[0]) || !plain(name) {
			return nil, invalidRequest("A parameter has control characters or is not UTF-8.")
		}
		if given[0] != "" {
			form[name] = given[0]
		}
	}
	return form, nil
}

// plain reports whether a text is UTF-8 without control characters.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func invalidRequest(message string) *sluice.Error {
	return sluice.Errorf(sluice.CodeInvalidRequest, "%s", message)
}

// metadata describes the issuer at the path that follows from its URL (RFC 8414, 3.1), or
// at the root, since the host has no other issuer.
func (i *Issuer) metadata(w http.ResponseWriter, r *http.Request) error {
	if named := r.PathValue("issuer"); named != "" {
		if u, err := url.Parse(i.url); err != nil || u.Path != "/"+named {
			return notFound(w, r)
		}
	}
	return i.discovery(w, r)
}

// discovery describes the issuer (OpenID Connect Discovery, 3; RFC 8414, 2).
func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) error {
	withSecret := []string{"client_secret_basic", "client_secret_post"}
	every := append(slices.Clone(withSecret), "none")
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                 i.url,
		"authorization_endpoint": i.BaseURL + sluice.AuthorizePath,
		"token_endpoint":         i.url + protocol + "/token",
		"jwks_uri":               i.url + protocol + "/certs",
		"userinfo_endpoint":      i.url + protocol + "/userinfo",
		"introspection_endpoint": i.url + protocol + "/introspect",
		"revocation_endpoint":    i.url + protocol + "/revoke",
		"end_session_endpoint":   i.url + protocol + "/logout",

		"grant_types_supported":                          slices.Sorted(maps.Keys(i.grants)),
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"code_challenge_methods_supported":               []string{"S256"},
		"prompt_values_supported":                        []string{"none", "login", "consent"},
		"request_uri_parameter_supported":                false,
		"scopes_supported":                               scopes,
		"claims_supported":                               []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "azp", "sid", "nonce", "at_hash", "preferred_username", "roles"},
		"authorization_response_iss_parameter_supported": true,
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{string(jose.ES256)},
		"token_endpoint_auth_methods_supported":          every,
		"revocation_endpoint_auth_methods_supported":     every,
		"introspection_endpoint_auth_methods_supported":  withSecret,
	})
	return nil
}

// certs publishes the keys that tokens are signed with.
func (i *Issuer) certs(w http.ResponseWriter, r *http.Request) error {
	keys, err := i.keys.published(r.Context())
	if err != nil {
		return err
	}
	set := jose.JSONWebKeySet{Keys: make([]jose.JSONWebKey, 0, len(keys))}
	for _, key := range keys {
		set.Keys = append(set.Keys, key.jwk())
	}
	writeJSON(w, http.StatusOK, set)
	return nil
}
