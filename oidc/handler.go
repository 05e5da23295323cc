package oidc

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"sluice"
)

// An endpoint answers a request, or has written nothing if it fails.
type endpoint func(w http.ResponseWriter, r *http.Request) error

// protocol is the path of most endpoints below the realm.
const protocol = "/protocol/openid-connect"

// Handler serves all paths below /auth/. It takes the request's RemoteAddr for
// the address of the client.
func (i *Issuer) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, serve endpoint, methods ...string) {
		mux.Handle("/auth/realms/{namespace}"+path, i.guard(serve, methods))
	}
	handle("/.well-known/openid-configuration", i.discovery, http.MethodGet, http.MethodHead)
	handle(protocol+"/certs", i.certs, http.MethodGet, http.MethodHead)
	handle(protocol+"/token", i.token, http.MethodPost)
	handle(protocol+"/userinfo", i.userinfo, http.MethodGet, http.MethodPost)
	handle(protocol+"/introspect", i.introspect, http.MethodPost)
	handle(protocol+"/revoke", i.revoke, http.MethodPost)
	handle(protocol+"/logout", i.logout, http.MethodGet, http.MethodPost)
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
	if r.PathValue("namespace") != i.Namespace {
		return notFound(nil, r)
	}
	if !slices.Contains(methods, r.Method) {
		allow := strings.Join(methods, ", ")
		e := sluice.Errorf(sluice.MethodNotAllowed, "invalid_request", "This method is not allowed here; use %s.", allow)
		e.Allow = allow
		return e
	}
	return nil
}

func notFound(http.ResponseWriter, *http.Request) error {
	return sluice.Errorf(sluice.NotFound, "not_found", "There is nothing at this path.")
}

// An outcome is how a kind of failure is told by the rules of OAuth.
type outcome struct {
	status int
	code   string // in place of the error's own, which isn't one of OAuth
}

// outcomes is the one place that maps kinds of failure to OAuth. Kinds that are
// not here are faults of ours.
var outcomes = map[sluice.Kind]outcome{
	sluice.Invalid:          {status: http.StatusBadRequest},
	sluice.Unauthenticated:  {status: http.StatusUnauthorized},
	sluice.Forbidden:        {status: http.StatusForbidden},
	sluice.NotFound:         {status: http.StatusNotFound},
	sluice.MethodNotAllowed: {status: http.StatusMethodNotAllowed},
	sluice.Timeout:          {status: http.StatusRequestTimeout},
	sluice.TooLarge:         {status: http.StatusRequestEntityTooLarge},
	sluice.Throttled:        {status: http.StatusTooManyRequests, code: "slow_down"},
	sluice.Unavailable:      {status: http.StatusServiceUnavailable, code: "temporarily_unavailable"},
}

// outcomeOf gives status and error code of a failure.
func outcomeOf(e *sluice.Error) outcome {
	o, known := outcomes[e.Kind]
	if !known {
		return outcome{http.StatusInternalServerError, "server_error"}
	}
	if o.code == "" {
		o.code = e.Code
	}
	return o
}

// fail answers a request with an error (RFC 6749, 5.2).
func (i *Issuer) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := sluice.AsError(err)
	o := outcomeOf(e)
	if o.status >= http.StatusInternalServerError && e.Err != nil {
		i.Log.Error("A request for tokens failed.", "path", r.URL.Path, "code", e.Code, "error", e.Err)
	}
	e.SetHeaders(w.Header())
	writeJSON(w, o.status, map[string]string{"error": o.code, "error_description": strings.Map(descriptive, e.Message)})
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
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = encodeJSON(w, value)
}

func encodeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}
