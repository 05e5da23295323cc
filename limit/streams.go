package limit

import (
	"net/http"
	"time"
)

// Streams returns a handler whose answers over HTTP/2 have a deadline that moves while bytes
// flow. Otherwise a client that blocks one stream would hold its answer in memory for ever:
// the deadlines of the connection don't cover streams.
func Streams(next http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		s := &stream{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
		next.ServeHTTP(s, r)
		s.begin() // buffers are written after the handler
	})
}

// stream is the answer on a stream. It has a deadline only during writes: a deadline would
// end a stream that waits for its next event.
type stream struct {
	http.ResponseWriter

	control *http.ResponseController
	timeout time.Duration
}

func (s *stream) begin() { _ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) } // it fails if the stream has ended
func (s *stream) end()   { _ = s.control.SetWriteDeadline(time.Time{}) }

// Write implements http.ResponseWriter.
func (s *stream) Write(b []byte) (written int, err error) {
	defer s.end()
	for {
		s.begin()
		n, err := s.ResponseWriter.Write(b[:min(len(b), chunk)])
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// FlushError is for http.ResponseController.
func (s *stream) FlushError() error {
	defer s.end()
	s.begin()
	return s.control.Flush()
}

// Unwrap is for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }
