package portal

import (
	"bytes"
	"net/http"
	"time"
)

// A recorder takes the answer of a call that the portal makes itself.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// Write implements http.ResponseWriter.
func (r *recorder) Write(content []byte) (int, error) { return r.body.Write(content) }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// SetReadDeadline does nothing: this body has arrived already.
func (r *recorder) SetReadDeadline(time.Time) error { return nil }
