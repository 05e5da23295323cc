package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
)

// browsers protects the API from pages of other sites, which can make a browser send
// requests with credentials that it remembers.
type browsers struct {
	guard   *http.CrossOriginProtection
	origins []string // whose pages may call the API
	secure  bool     // people reach the server by https
}

func newBrowsers(o Options) *browsers {
	b := &browsers{
		guard: http.NewCrossOriginProtection(), origins: o.CORSOrigins,
		secure: strings.HasPrefix(o.BaseURL, "https://"),
	}
	trusted := o.CORSOrigins
	if base, err := url.Parse(o.BaseURL); err == nil && base.Host != "" {
		// A proxy may change the Host that an Origin is compared with.
		trusted = append([]string{base.Scheme + "://" + base.Host}, trusted...)
	}
	for _, origin := range trusted {
		if err := b.guard.AddTrustedOrigin(origin); err != nil {
			o.Log.Warn("This is no origin; pages of it are treated as those of other sites.", "origin", origin,
				"error", err)
		}
	}
	return b
}

// The headers of answers to pages of other origins.
const (
	crossMethods = "GET, POST, PUT, DELETE"
	crossExposed = sluice.CorrelationHeader + ", " + sluice.TraceHeader +
		", Svc-Refresh-Token, Svc-Duplicate, Link, ETag, Location, Retry-After, WWW-Authenticate"
	crossMaxAge = "600" // seconds that a preflight is remembered for
)

// check sets the headers that browsers need, and refuses what a page of another site has
// made a browser send. It reports whether the request is already answered. Webhooks and
// the issuer are not checked: their callers show a token or a secret in the request
// itself, so a browser adds nothing. The portal has a guard of its own, since its pages
// take no calls of other origins at all.
func (b *browsers) check(w http.ResponseWriter, r *http.Request) (answered bool, err error) {
	if b.secure || r.TLS != nil {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	if b.share(w, r) && isPreflight(r) {
		w.Header().Set("Access-Control-Allow-Methods", crossMethods)
		w.Header().Set("Access-Control-Max-Age", crossMaxAge)
		if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
			w.Header().Set("Access-Control-Allow-Headers", wanted)
		}
		w.WriteHeader(http.StatusNoContent)
		return true, nil
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == sluice.ReceivePath {
		return false, nil
	}
	if b.guard.Check(r) != nil {
		return false, sluice.CodeCrossOrigin.Errorf("This request came from a page of another site, so " +
			"nothing was done. An operator can allow that site with --cors-origins.")
	}
	return false, nil
}

// share lets a page of another origin read the answer, if it may. Any page may read what
// describes the API and the issuer; only those that the operator names may call the API.
// Browsers add no credentials of their own.
func (b *browsers) share(w http.ResponseWriter, r *http.Request) bool {
	allowed := "*"
	if !describes(r.URL.Path) {
		allowed = r.Header.Get("Origin")
		callable := strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == sluice.AgentPath ||
			strings.HasPrefix(r.URL.Path, sluice.HookPath) || strings.HasPrefix(r.URL.Path, sluice.AuthPath)
		if allowed == "" || !callable || !slices.Contains(b.origins, allowed) {
			return false
		}
		w.Header().Add("Vary", "Origin")
	}
	w.Header().Set("Access-Control-Allow-Origin", allowed)
	w.Header().Set("Access-Control-Expose-Headers", crossExposed)
	return true
}

// describes reports whether a path describes the API or the issuer, which is no secret.
func describes(path string) bool {
	if path == sluice.OpenAPIPath || strings.HasPrefix(path, sluice.MetadataPath) ||
		strings.HasPrefix(path, sluice.ResourcePath) {
		return true
	}
	return strings.HasPrefix(path, sluice.RealmsPath) &&
		(strings.HasSuffix(path, sluice.OpenIDPath) || strings.HasSuffix(path, sluice.MetadataPath) ||
			strings.HasSuffix(path, "/protocol/openid-connect/certs"))
}

// isPreflight reports whether a browser asks what a page may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
