package limit

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"sluice"
)

// Pace is how slowly a caller may send its body. Otherwise a few callers could
// hold all connections for ever. All bodies are read through it, so no branch can
// miss a limit.
type Pace struct {
	Idle  time.Duration // longest pause between two pieces
	Total time.Duration // longest time for all of it
	Rate  int           // bytes a second it must reach, once it took longer than Idle
}

// Read appends the body of a request to b, at most limit bytes of it. Errors are
// TooLarge, Timeout or Invalid.
func (p Pace) Read(w http.ResponseWriter, r *http.Request, b []byte, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return b, TooLarge(limit)
	}
	if r.Body == http.NoBody || r.ContentLength == 0 {
		return b, nil
	}
	// One byte more, to see the end; large bodies take memory as they arrive.
	b = slices.Grow(b, int(min(max(r.ContentLength, 0)+1, small)))
	conn := http.NewResponseController(w)
	start := time.Now()
	for now, deadline := start, p.firstDeadline(r, start); ; now = time.Now() {
		elapsed := now.Sub(start)
		if elapsed > p.Total || elapsed > p.Idle && len(b) < int(elapsed.Seconds())*p.Rate {
			return b, tooSlow()
		}
		// Moving the deadline costs a little, so not for every piece.
		if deadline.Sub(now) < p.Idle/2 {
			deadline = now.Add(p.Idle)
			if err := conn.SetReadDeadline(deadline); err != nil {
				return b, err
			}
		}
		n, err := r.Body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > limit:
			return b, TooLarge(limit)
		case errors.Is(err, io.EOF):
			return b, nil // net/http lifts the deadline at the end of a body
		case errors.Is(err, os.ErrDeadlineExceeded):
			return b, tooSlow()
		case err != nil:
			return b, malformed(err)
		}
		b = slices.Grow(b, 512)
	}
}

// firstDeadline gives the deadline that the connection has already. Most bodies
// arrive with their headers: for those, that of the server is enough.
func (p Pace) firstDeadline(r *http.Request, start time.Time) time.Time {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if ok && server.ReadTimeout > 0 && server.ReadTimeout <= p.Idle {
		return start.Add(p.Idle)
	}
	return start
}

// TooLarge is the error of a body over its limit.
func TooLarge(limit int) error {
	return sluice.Errorf(sluice.TooLarge, "payload-too-large", "The body is larger than accepted here: the limit is %d bytes.", limit).Closing()
}

func tooSlow() error {
	return sluice.Errorf(sluice.Timeout, "body-timeout", "The body did not arrive in time; send it again.").Closing()
}

func malformed(cause error) error {
	return sluice.Errorf(sluice.Invalid, "body-malformed", "The body could not be read to its end; send it again.").Because(cause).Closing()
}
