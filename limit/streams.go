package limit

import (
	"net/http"
	"time"
)

// Streams returns a handler whose answers over HTTP/2 have a deadline that moves
// while bytes flow. There a client that reads the connection, but lets nothing
// through on one stream, would otherwise hold that answer in memory for ever: the
// deadlines of the connection know nothing of it.
func Streams(next http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		s := &stream{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
		next.ServeHTTP(s, r)
		s.begin() // what is left in buffers is written behind the handler
	})
}

// stream is the answer on a stream. Its deadline is there only while something
// is written: it ends a stream that waits for its next event, too.
type stream struct {
	http.ResponseWriter

	control *http.ResponseController
	timeout time.Duration
}

func (s *stream) begin() { _ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) } // it has ended, otherwise
func (s *stream) end()   { _ = s.control.SetWriteDeadline(time.Time{}) }

// Write implements http.ResponseWriter.
func (s *stream) Write(b []byte) (written int, err error) {
	defer s.end()
	for {
		s.begin()
		n, err := s.ResponseWriter.Write(b[:min(len(b), piece)])
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
