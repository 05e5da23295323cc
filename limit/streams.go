package limit

import (
	"net/http"
	"time"
)

// Streams bounds the streams of HTTP/2: connections are counted elsewhere, but each may have
// many streams.
type Streams struct {
	slots    *Slots
	networks *Shares[string]
	timeout  time.Duration
}

// NewStreams returns bounds on the streams of all clients and of one network. The timeout is
// how long a client may take to read a chunk of an answer.
func NewStreams(total, perNetwork int, timeout time.Duration) *Streams {
	return &Streams{slots: NewSlots(total), networks: NewShares[string](perNetwork), timeout: timeout}
}

// Serve serves the request on a stream, or refuses it with 503. The refusal has no body: a
// client that reads nothing could hold one in memory.
//
// Answers have a deadline that moves while bytes flow, since the deadlines of the connection
// don't cover streams. All of an answer is written before the stream gives its slot back.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	network := Network(r.RemoteAddr)
	if !s.networks.Enter(network) {
		refuse(w)
		return
	}
	defer s.networks.Leave(network)
	if s.slots.Enter() != nil {
		refuse(w)
		return
	}
	defer s.slots.Leave()
	a := &stream{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.timeout}
	a.end() // net/http has set one
	next(a, r)
	if a.unsent {
		_ = a.FlushError() // the caller has gone
	}
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
}

// stream is the answer on a stream. It has a deadline only during writes: a deadline would
// end a stream that waits for its next event.
type stream struct {
	http.ResponseWriter

	control *http.ResponseController
	timeout time.Duration
	unsent  bool // net/http may hold bytes of it
}

func (s *stream) begin() { _ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) } // it fails if the stream has ended
func (s *stream) end()   { _ = s.control.SetWriteDeadline(time.Time{}) }

// Write implements http.ResponseWriter.
func (s *stream) Write(b []byte) (written int, err error) {
	defer s.end()
	s.unsent = true
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
	s.unsent = false
	s.begin()
	return s.control.Flush()
}

// Unwrap is for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }
