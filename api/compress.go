package api

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"sluice"
	"sluice/limit"
)

// worthCompressing is how long a body must be for compression to save anything.
const worthCompressing = 1 << 10

// compressed answers with gzip if the caller accepts it and it saves something.
//
// A compressed answer with both a secret and an attacker's input reveals the secret by
// its length (BREACH). An attacker can make a browser send a request with its cookie. So
// requests with a cookie are answered uncompressed if they carry input: a query, or a
// method other than GET. Answers of the issuer, which hold tokens, are never compressed.
// All others get a random length, which makes guessing expensive.
func compressed(next http.HandlerFunc) http.HandlerFunc {
	zipping := limit.NewSlots(maxZipping)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !mayCompress(r) {
			next(w, r)
			return
		}
		c := &compressor{ResponseWriter: w, zipping: zipping}
		defer c.leave()
		next(c, r)
		c.finish() // not if next panics, since another answer follows then
	}
}

// maxZipping is how many answers are compressed at the same time. Each takes nearly
// a megabyte until its client has read it, so further ones are sent as they are.
const maxZipping = 32

func mayCompress(r *http.Request) bool {
	noInput := r.Method == http.MethodGet && r.URL.RawQuery == ""
	return r.Method != http.MethodHead &&
		(noInput || r.Header.Get("Cookie") == "") &&
		!strings.HasPrefix(r.URL.Path, sluice.AuthPath) &&
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

// A compressor holds the beginning of an answer until it is clear whether to
// compress it.
type compressor struct {
	http.ResponseWriter

	status  int
	held    []byte
	decided bool
	zip     *gzip.Writer // nil: it is not compressed
	zipping *limit.Slots
}

var zippers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// WriteHeader implements http.ResponseWriter.
func (c *compressor) WriteHeader(status int) {
	switch {
	case status < http.StatusOK: // others follow
		c.ResponseWriter.WriteHeader(status)
	case c.status == 0:
		c.status = status
	}
}

// Write implements http.ResponseWriter.
func (c *compressor) Write(p []byte) (int, error) {
	if !c.decided {
		if len(c.held)+len(p) < worthCompressing {
			c.held = append(c.held, p...)
			return len(p), nil
		}
		if err := c.decide(c.suits()); err != nil { // p itself is not held: it may be large
			return 0, err
		}
	}
	if c.zip != nil {
		return c.zip.Write(p)
	}
	return c.ResponseWriter.Write(p)
}

// suits reports whether the answer is text, judging by its headers.
func (c *compressor) suits() bool {
	header := c.Header()
	if header.Get("Content-Encoding") != "" || c.status == http.StatusPartialContent {
		return false
	}
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	switch media = strings.TrimSpace(media); media {
	case "application/json", "application/problem+json", "application/yaml", "application/javascript", "image/svg+xml":
		return true
	case "text/event-stream": // each event must arrive at once
		return false
	}
	return strings.HasPrefix(media, "text/")
}

// decide sends what was held, compressed or not.
func (c *compressor) decide(compress bool) error {
	c.decided = true
	if compress && c.zipping.Enter() == nil {
		c.Header().Set("Content-Encoding", "gzip")
		c.Header().Del("Content-Length")
		c.zip = zippers.Get().(*gzip.Writer)
		c.zip.Reset(c.ResponseWriter)
		const longest = 100
		c.zip.Extra = make([]byte, rand.IntN(longest))
	}
	if c.status != 0 {
		c.ResponseWriter.WriteHeader(c.status)
	}
	held := c.held
	c.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := c.Write(held)
	return err
}

// finish sends the rest of the answer.
func (c *compressor) finish() {
	if !c.decided {
		_ = c.decide(false) // an error means that the caller has gone
	}
	if c.zip != nil {
		_ = c.zip.Close() // the same
		zippers.Put(c.zip)
	}
}

func (c *compressor) leave() {
	if c.zip != nil {
		c.zipping.Leave()
	}
}

// FlushError lets a handler stream. An answer that is flushed before it is long
// is not compressed.
func (c *compressor) FlushError() error {
	if !c.decided {
		if err := c.decide(false); err != nil {
			return err
		}
	}
	if c.zip != nil {
		if err := c.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// zip compresses a document.
func zip(document []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(document) // a buffer takes everything
	_ = w.Close()
	return zipped.Bytes()
}
