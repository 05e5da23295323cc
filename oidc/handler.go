package oidc

import (
	"net/http"
	"slices"
	"strings"

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
		err := i.check(r, methods)
		if err == nil {
			err = serve(w, r)
		}
		if err != nil {
			i.fail(w, r, err)
		}
	})
}

func (i *Issuer) check(r *http.Request, methods []string) error {
	if realm := r.PathValue("namespace"); realm != "" && realm != i.Namespace || methods == nil {
		return notFound(nil, r)
	}
	if !slices.Contains(methods, r.Method) {
		allow := strings.Join(methods, ", ")
		return sluice.CodeInvalidRequest.Errorf("This method is not allowed here; use %s.", allow).
			OfKind(sluice.MethodNotAllowed).Allowing(allow)
	}
	return nil
}

func notFound(http.ResponseWriter, *http.Request) error {
	return sluice.CodeOAuthNotFound.Errorf("There is nothing at this path.")
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
	writeJSON(w, status, map[string]string{
		"error": codeOf(e), "error_description": strings.Map(descriptive, e.Message),
	})
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
