package api

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"sluice"
	"sluice/limit"
)

// browsers protects the API from pages of other sites, which can make a browser send
// requests with credentials that it remembers.
type browsers struct {
	guard   *http.CrossOriginProtection
	origins []string // whose pages may call the API
	secure  bool     // people reach the server by https
}

func newBrowsers(o Options) *browsers {
	b := &browsers{guard: http.NewCrossOriginProtection(), origins: o.CORSOrigins, secure: strings.HasPrefix(o.BaseURL, "https://")}
	trusted := o.CORSOrigins
	if base, err := url.Parse(o.BaseURL); err == nil && base.Host != "" {
		// A proxy may change the Host that an Origin is compared with.
		trusted = append([]string{base.Scheme + "://" + base.Host}, trusted...)
	}
	for _, origin := range trusted {
		if err := b.guard.AddTrustedOrigin(origin); err != nil {
			o.Log.Warn("This is no origin; pages of it are treated as those of other sites.", "origin", origin, "error", err)
		}
	}
	return b
}

// The headers of answers to pages of other origins.
const (
	crossMethods = "GET, POST, PUT, DELETE"
	crossExposed = sluice.CorrelationHeader + ", " + sluice.TraceHeader + ", Svc-Refresh-Token, Svc-Duplicate, Link, ETag, Location, Retry-After, WWW-Authenticate"
	crossMaxAge  = "600" // seconds that a preflight is remembered for
)

// admit sets the headers that browsers need, and refuses what a page of another site has
// made a browser send. It reports whether the request is already answered. Webhooks and
// the issuer are not checked: their callers show a token or a secret in the request
// itself, so a browser adds nothing. The portal has a guard of its own, since its pages
// take no calls of other origins at all.
func (b *browsers) admit(w http.ResponseWriter, r *http.Request) (answered bool, err error) {
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
		return false, sluice.Errorf(sluice.CodeCrossOrigin, "This request came from a page of another site, so nothing was done. An operator can allow that site with --cors-origins.")
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
		callable := strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == sluice.AgentPath || strings.HasPrefix(r.URL.Path, sluice.HookPath) || strings.HasPrefix(r.URL.Path, sluice.AuthPath)
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
	if path == sluice.OpenAPIPath || strings.HasPrefix(path, sluice.MetadataPath) || strings.HasPrefix(path, sluice.ResourcePath) {
		return true
	}
	return strings.HasPrefix(path, sluice.RealmsPath) &&
		(strings.HasSuffix(path, sluice.OpenIDPath) || strings.HasSuffix(path, sluice.MetadataPath) || strings.HasSuffix(path, "/protocol/openid-connect/certs"))
}

// isPreflight reports whether a browser asks what a page may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

const (
	// worthCompressing is how long a body must be for compression to save anything.
	worthCompressing = 1 << 10
	// maxZipping is how many answers are compressed at the same time. Each takes nearly
	// a megabyte until its client has read it, so further ones are sent as they are.
	maxZipping = 32
	// jitter is by how many bytes at most the length of a compressed answer varies.
	jitter = 100
)

// compressed answers with gzip if the caller accepts it and it saves something.
//
// A compressed answer with both a secret and an attacker's input reveals the secret by
// its length (BREACH). An attacker can make a browser send a request with its cookie. So
// requests with a cookie are answered uncompressed if they carry input: a query, or a
// method other than GET. Answers of the issuer, which hold tokens, are never compressed.
// All others get a random length, which makes guessing expensive.
func compressed(next http.HandlerFunc) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(worthCompressing), gzhttp.ContentTypeFilter(isText), gzhttp.RandomJitter(jitter, 0, false))
	if err != nil {
		panic(err) // the options are constants
	}
	zipping, zipped := limit.NewSlots(maxZipping), wrap(next)
	return func(w http.ResponseWriter, r *http.Request) {
		if !mayCompress(r) || zipping.Enter() != nil {
			w.Header().Add("Vary", "Accept-Encoding")
			next(w, r)
			return
		}
		defer zipping.Leave()
		zipped(w, r)
	}
}

// mayCompress reports whether the answer to a request may be compressed. Live tails
// may not: each event must arrive at once, and they last.
func mayCompress(r *http.Request) bool {
	noInput := r.Method == http.MethodGet && r.URL.RawQuery == ""
	return r.Method != http.MethodHead &&
		(noInput || r.Header.Get("Cookie") == "") &&
		!strings.HasPrefix(r.URL.Path, sluice.AuthPath) &&
		r.URL.Path != sluice.EventsPath && r.URL.Path != sluice.LivePath &&
		takesGzip(r.Header.Values("Accept-Encoding"))
}

// takesGzip reads the header Accept-Encoding.
func takesGzip(values []string) bool {
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			_, q, _ := strings.Cut(weight, "=")
			return strings.Trim(q, " 0.") != "" || strings.TrimSpace(q) == ""
		}
	}
	return false
}

// isText reports whether a content type is that of a text.
func isText(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	switch media = strings.TrimSpace(media); media {
	case "application/json", "application/problem+json", "application/yaml", "application/javascript", "image/svg+xml":
		return true
	case "text/event-stream": // each event must arrive at once
		return false
	}
	return strings.HasPrefix(media, "text/")
}

func zip(document []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(document) // a buffer takes everything
	_ = w.Close()
	return zipped.Bytes()
}
