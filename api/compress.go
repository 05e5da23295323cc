package api

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"sluice"
	"sluice/limit"
)

// compressed answers with gzip if the caller accepts it and it saves something.
//
// A compressed answer with both a secret and an attacker's input reveals the secret by
// its length (BREACH). An attacker can make a browser send a request with its cookie. So
// requests with a cookie are answered uncompressed if they carry input: a query, or a
// method other than GET. Answers of the issuer, which hold tokens, are never compressed.
// All others get a random length, which makes guessing expensive.
func compressed(next http.HandlerFunc) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(worthCompressing), gzhttp.ContentTypeFilter(isText),
		gzhttp.RandomJitter(jitter, 0, false))
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
		// at any weight
		strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept-Encoding"), ",")), "gzip")
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

const (
	// worthCompressing is how long a body must be for compression to save anything.
	worthCompressing = 1 << 10
	// maxZipping is how many answers are compressed at the same time. Each takes nearly
	// a megabyte until its client has read it, so further ones are sent as they are.
	maxZipping = 32
	// jitter is by how many bytes at most the length of a compressed answer varies.
	jitter = 100
)
