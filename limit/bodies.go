package limit

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"sluice"
	"sluice/stretch"
)

// Pace is how slowly a caller may send its body. Otherwise a few callers could
// hold all connections for ever.
type Pace struct {
	Idle  time.Duration // longest pause between two pieces
	Total time.Duration // longest time for all of it
	Rate  int           // bytes a second it must reach, once it took longer than Idle
}

// BodyOptions are the bounds on bodies.
type BodyOptions struct {
	Pace       Pace
	Known      int64 // bytes of bodies whose sender has shown a token or a login
	Strange    int64 // bytes of the others: so strangers can't take what others need
	Answers    int64 // bytes of large answers that are not read yet
	Unfinished int   // bodies that one client has on their way
	Pressure   *Pressure
}

// Bodies reads the bodies of requests within bounds on size, time and memory.
// Everything that takes a body reads it here, so no branch can miss a limit.
type Bodies struct {
	Known, Strange, Answers *Memory

	pace       Pace
	unfinished *Shares[string]

	mu       sync.Mutex
	arriving map[*arrival]struct{} // larger bodies
}

// NewBodies returns a reader of bodies.
func NewBodies(o BodyOptions) *Bodies {
	return &Bodies{
		Known:      NewMemory(o.Known, o.Pressure),
		Strange:    NewMemory(o.Strange, o.Pressure),
		Answers:    NewMemory(o.Answers, o.Pressure),
		pace:       o.Pace,
		unfinished: NewShares[string](o.Unfinished),
		arriving:   make(map[*arrival]struct{}),
	}
}

// Read appends the body of a request to b, at most limit bytes of it, and takes
// memory for it as it arrives. Errors are TooLarge, Timeout, Invalid, or
// Unavailable if the server is out of memory: the slowest senders are dropped first.
func (bs *Bodies) Read(w http.ResponseWriter, r *http.Request, b []byte, limit int, hold *Hold) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return b, TooLarge(limit)
	}
	if r.Body == http.NoBody || r.ContentLength == 0 {
		return b, nil
	}
	if here, ok := r.Body.(inMemory); ok {
		return readAll(b, here, limit)
	}
	network := Network(r.RemoteAddr)
	if !bs.unfinished.Enter(network) {
		return b, sluice.Errorf(sluice.CodeTooManyUnfinished, "Too many calls from this address are on their way at the same time.").After(time.Second).Closing()
	}
	defer bs.unfinished.Leave(network)
	// One byte more, to see the end; whatever is announced, there is space for
	// what arrives.
	b = slices.Grow(b, int(min(max(r.ContentLength, 0)+1, first)))
	start := time.Now()
	a := &arrival{bodies: bs, conn: http.NewResponseController(w), start: start, hold: hold}
	defer a.leave()
	deadline := bs.pace.firstDeadline(r, start)
	for now := start; ; now = time.Now() {
		elapsed := now.Sub(start)
		if elapsed > bs.pace.Total || elapsed > bs.pace.Idle && len(b) < int(elapsed.Seconds())*bs.pace.Rate {
			return b, tooSlow()
		}
		// Moving the deadline costs a little, so not for every piece.
		if deadline.Sub(now) < bs.pace.Idle/2 {
			deadline = now.Add(bs.pace.Idle)
			if err := a.setDeadline(deadline); err != nil {
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
			return b, a.deadlineExceeded()
		case err != nil:
			return b, malformed(err)
		}
		if b, err = a.grow(r.Context(), b, limit); err != nil {
			return b, err
		}
	}
}

// first is the space that a body begins with.
const first = 1 << 10

// inMemory is a body that has arrived already, of which so much is left.
type inMemory interface {
	io.Reader
	Len() int
}

func readAll(b []byte, body inMemory, limit int) ([]byte, error) {
	size := body.Len()
	if size > limit {
		return b, TooLarge(limit)
	}
	b = slices.Grow(b, size)
	n, err := io.ReadFull(body, b[len(b):len(b)+size])
	return b[:len(b)+n], err
}

// An arrival is a larger body on its way.
type arrival struct {
	bodies *Bodies
	conn   *http.ResponseController
	hold   *Hold

	// By the mutex of the bodies:
	start   time.Time
	size    int
	gaveWay bool
}

// grow makes space for more of a body that is larger than what costs nothing.
func (a *arrival) grow(ctx context.Context, b []byte, limit int) ([]byte, error) {
	if len(b) < cap(b) {
		return b, nil
	}
	size := min(max(2*cap(b), first), limit+1)
	if size > small {
		if err := a.enter(len(b)); err != nil {
			return b, err
		}
		waited, err := a.bodies.await(ctx, a.hold, int64(size), a)
		if err != nil {
			return b, err
		}
		a.forgive(waited)
	}
	return slices.Grow(b, size-len(b)), nil
}

// Grow takes memory for a body that is here, as Hold.Grow does. Those that are on
// their way give way to it.
func (bs *Bodies) Grow(ctx context.Context, h *Hold, bytes int64) error {
	_, err := bs.await(ctx, h, bytes, nil)
	return err
}

// await waits briefly for memory. Meanwhile unfinished bodies that have cost more yield
// to the one that asks; to a body that has arrived (nil), any does.
func (bs *Bodies) await(ctx context.Context, h *Hold, bytes int64, asks *arrival) (waited time.Duration, err error) {
	const pause = patience / 10
	if h.grow(ctx, bytes, 0) {
		return 0, nil
	}
	began := time.Now()
	for until := began.Add(stretch.Of(patience)); !h.grow(ctx, bytes, pause); {
		if bs.giveWay(h.memory, asks, began) {
			until = time.Now().Add(stretch.Of(patience)) // for it to end
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return 0, noMemory()
		}
	}
	return time.Since(began), nil
}

// forgive leaves out a time in which the sender had to wait for us.
func (a *arrival) forgive(waited time.Duration) {
	if waited > 0 {
		a.bodies.mu.Lock()
		defer a.bodies.mu.Unlock()
		a.start = a.start.Add(waited)
	}
}

// enter counts a body among the larger ones, with what has arrived of it.
func (a *arrival) enter(size int) error {
	a.bodies.mu.Lock()
	defer a.bodies.mu.Unlock()
	if a.gaveWay {
		return gaveWay()
	}
	a.bodies.arriving[a] = struct{}{}
	a.size = size
	return nil
}

func (a *arrival) leave() {
	if a.size > 0 {
		a.bodies.mu.Lock()
		defer a.bodies.mu.Unlock()
		delete(a.bodies.arriving, a)
	}
}

// giveWay cancels the costliest unfinished body if it costs more than the one that has
// been waiting since a time, and reports whether it did.
func (bs *Bodies) giveWay(m *Memory, asks *arrival, since time.Time) bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	now, most := time.Now(), 0.0
	if asks != nil {
		most = asks.cost(since)
	}
	var dearest *arrival
	for a := range bs.arriving {
		if c := a.cost(now); a != asks && !a.gaveWay && a.hold.memory == m && c > most {
			dearest, most = a, c
		}
	}
	if dearest == nil {
		return false
	}
	dearest.gaveWay = true
	_ = dearest.conn.SetReadDeadline(now) // it has ended in another way, otherwise
	return true
}

// cost returns how much memory a body has taken for how long: a slow one takes it
// for long.
func (a *arrival) cost(now time.Time) float64 {
	return float64(a.size) * now.Sub(a.start).Seconds()
}

func (a *arrival) setDeadline(t time.Time) error {
	a.bodies.mu.Lock()
	defer a.bodies.mu.Unlock()
	if a.gaveWay {
		return gaveWay()
	}
	return a.conn.SetReadDeadline(t)
}

func (a *arrival) deadlineExceeded() error {
	a.bodies.mu.Lock()
	defer a.bodies.mu.Unlock()
	if a.gaveWay {
		return gaveWay()
	}
	return tooSlow()
}

// firstDeadline returns the deadline that the connection has already. Most bodies
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
	return sluice.Errorf(sluice.CodePayloadTooLarge, "The body is larger than accepted here: the limit is %d bytes.", limit).Closing()
}

func gaveWay() error {
	return sluice.Errorf(sluice.CodeOverloaded, "The server has no memory for a body that arrives so slowly. Try again soon.").After(2 * time.Second).Closing()
}

func tooSlow() error {
	return sluice.Errorf(sluice.CodeBodyTimeout, "The body did not arrive in time; send it again.").Closing()
}

func malformed(cause error) error {
	return sluice.Errorf(sluice.CodeBodyMalformed, "The body could not be read to its end; send it again.").Because(cause).Closing()
}

// The bounds on a body that nobody wants.
const (
	maxDiscarded = 8 << 20
	discardTime  = 5 * time.Second
)

// Discard reads the rest of a refused body, within bounds. A server that
// answers and closes while the body is still on its way cuts its own answer
// off: proxies then make a 502 of it, and senders try again in vain. A client
// that asked before sending has its answer already.
func Discard(w http.ResponseWriter, r *http.Request) {
	if r.Body == http.NoBody || r.ContentLength > maxDiscarded || r.Header.Get("Expect") != "" {
		return
	}
	conn := http.NewResponseController(w)
	if err := conn.SetReadDeadline(time.Now().Add(discardTime)); err != nil {
		return // nothing can be read within bounds
	}
	next := time.Time{}
	if _, err := io.CopyN(io.Discard, r.Body, maxDiscarded); !errors.Is(err, io.EOF) {
		next = time.Now() // net/http would wait for the rest
	}
	_ = conn.SetReadDeadline(next) // the connection has gone, otherwise
}
