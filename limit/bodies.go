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

// Pace bounds how slowly a caller may send its body. Otherwise a few callers could hold all
// connections for ever.
type Pace struct {
	Idle  time.Duration // longest pause between two reads
	Total time.Duration // longest time for the whole body
	Rate  int           // least bytes a second, for bodies that take longer than Idle
}

// BodyOptions are the bounds on bodies.
type BodyOptions struct {
	Pace       Pace
	Known      int64 // bytes of bodies whose sender has shown a token or a login
	Strange    int64 // bytes of the others, so that strangers can't take all
	Answers    int64 // bytes of large answers that clients have not read yet
	Unfinished int   // bodies that one client may send at the same time
	Pressure   *Pressure
}

// Bodies reads the bodies of requests within bounds on size, time and memory. All bodies are
// read here, so no path can miss a limit.
type Bodies struct {
	Known, Strange, Answers *Memory

	pace       Pace
	unfinished *Shares[string]

	mu       sync.Mutex
	arriving map[*arrival]struct{} // larger bodies
}

// usualBody is what a body of a size that senders usually have takes, with its copies. Those of
// known senders are taken whatever strangers do to the memory, as long as there is some.
const usualBody = 1 << 20

// NewBodies returns a reader of bodies.
func NewBodies(o BodyOptions) *Bodies {
	known := NewMemory(o.Known, o.Pressure)
	known.spared = usualBody
	return &Bodies{
		Known:      known,
		Strange:    NewMemory(o.Strange, o.Pressure),
		Answers:    NewMemory(o.Answers, o.Pressure),
		pace:       o.Pace,
		unfinished: NewShares[string](o.Unfinished),
		arriving:   map[*arrival]struct{}{},
	}
}

// Read appends the body of a request to b, at most limit bytes, and takes memory as it
// arrives. Errors are TooLarge, Timeout, Invalid, or Unavailable if the server is out of
// memory: the slowest senders are dropped first.
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
		return b, sluice.CodeTooManyUnfinished.Errorf(
			"Too many calls from this address are on their way at the same time.").After(time.Second).Closing()
	}
	defer bs.unfinished.Leave(network)
	space := bs.growthOf(r.ContentLength, limit, hold)
	b = slices.Grow(b, min(first, space.most))
	start := time.Now()
	a := &arrival{bodies: bs, conn: http.NewResponseController(w), start: start, hold: hold}
	defer a.leave()
	deadline := bs.pace.firstDeadline(r, start)
	for now := start; ; now = time.Now() {
		if bs.pace.isTooSlow(len(b), now.Sub(start)) {
			return b, tooSlow()
		}
		// Moving the deadline has a cost, so not at every read.
		if deadline.Sub(now) < bs.pace.Idle/2 {
			deadline = now.Add(bs.pace.Idle)
			if err := a.unlessGone(func() error { return a.conn.SetReadDeadline(deadline) }); err != nil {
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
			return b, a.unlessGone(tooSlow)
		case err != nil:
			return b, malformed(err)
		}
		if b, err = a.grow(r.Context(), b, space); err != nil {
			return b, err
		}
	}
}

// first is the initial space for a body.
const first = 1 << 10

// growth says how the space for a body grows.
type growth struct{ factor, most int }

// growthOf returns the growth for a body: one byte more than it has, to see the end. The announced length is only
// a bound: the space grows with what arrives, faster for senders who have shown a token or a login.
func (bs *Bodies) growthOf(announced int64, limit int, hold *Hold) growth {
	space := growth{factor: 2, most: limit + 1}
	if hold.memory == bs.Known {
		space.factor = 8
	}
	if announced > 0 {
		space.most = int(announced) + 1
	}
	return space
}

// inMemory is a body that has arrived already.
type inMemory interface {
	io.Reader
	Len() int // unread bytes
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

// An arrival is an unfinished body.
type arrival struct {
	bodies *Bodies
	conn   *http.ResponseController
	hold   *Hold

	// Guarded by bodies.mu:
	start   time.Time
	size    int
	gaveWay bool
}

// grow makes space for more of a body. Beyond a small size it takes memory for it.
func (a *arrival) grow(ctx context.Context, b []byte, g growth) ([]byte, error) {
	if len(b) < cap(b) {
		return b, nil
	}
	size := min(g.factor*cap(b), g.most)
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
	grown := make([]byte, size)
	copy(grown, b)
	return grown[:len(b)], nil
}

// Grow takes memory for a body that has arrived, as Hold.Grow does. Unfinished bodies yield
// to it.
func (bs *Bodies) Grow(ctx context.Context, h *Hold, bytes int64) error {
	_, err := bs.await(ctx, h, bytes, nil)
	return err
}

// await waits briefly for memory. Meanwhile costlier unfinished bodies yield to the one that
// asks. To a body that has arrived (nil), any of them yields.
func (bs *Bodies) await(ctx context.Context, h *Hold, bytes int64, asks *arrival) (waited time.Duration, err error) {
	const pause = patience / 10
	if h.Try(bytes) == nil {
		return 0, nil
	}
	began := time.Now()
	for until := began.Add(stretch.Of(patience)); h.grow(ctx, bytes, pause) != nil; {
		if bs.giveWay(h.memory, asks, began) {
			until = time.Now().Add(stretch.Of(patience)) // for the other to end
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return 0, noMemory()
		}
	}
	return time.Since(began), nil
}

// forgive does not count the time that the sender had to wait for us.
func (a *arrival) forgive(waited time.Duration) {
	if waited > 0 {
		a.bodies.mu.Lock()
		defer a.bodies.mu.Unlock()
		a.start = a.start.Add(waited)
	}
}

// enter lists a larger body, with the size that has arrived.
func (a *arrival) enter(size int) error {
	return a.unlessGone(func() error {
		a.bodies.arriving[a] = struct{}{}
		a.size = size
		return nil
	})
}

// unlessGone does something under the lock, unless the body had to give way.
func (a *arrival) unlessGone(do func() error) error {
	a.bodies.mu.Lock()
	defer a.bodies.mu.Unlock()
	if a.gaveWay {
		return gaveWay()
	}
	return do()
}

func (a *arrival) leave() {
	if a.size > 0 {
		a.bodies.mu.Lock()
		defer a.bodies.mu.Unlock()
		delete(a.bodies.arriving, a)
	}
}

// giveWay cancels the costliest unfinished body if it costs more than the one waiting since
// then, and reports whether it did.
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
	_ = dearest.conn.SetReadDeadline(now) // it fails if the body has ended already
	return true
}

// cost is the memory of a body times how long it has been arriving.
func (a *arrival) cost(now time.Time) float64 {
	return float64(a.size) * now.Sub(a.start).Seconds()
}

// isTooSlow reports whether too little of a body has come in a time.
func (p Pace) isTooSlow(size int, elapsed time.Duration) bool {
	return elapsed > p.Total || elapsed > p.Idle && size < int(elapsed.Seconds())*p.Rate
}

// firstDeadline returns the deadline that the connection already has. It is enough for most
// bodies, which arrive with their headers.
func (p Pace) firstDeadline(r *http.Request, start time.Time) time.Time {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if ok && server.ReadTimeout > 0 && server.ReadTimeout <= p.Idle {
		return start.Add(p.Idle)
	}
	return start
}

// TooLarge is the error of a body over its limit.
func TooLarge(limit int) error {
	return sluice.CodePayloadTooLarge.Errorf("The body is larger than accepted here: the limit is %d bytes.",
		limit).Closing()
}

func gaveWay() error {
	return sluice.CodeOverloaded.Errorf(
		"The server has no memory for a body that arrives so slowly. Try again soon.").After(2 * time.Second).Closing()
}

func tooSlow() error {
	return sluice.CodeBodyTimeout.Errorf("The body did not arrive in time; send it again.").Closing()
}

func malformed(cause error) error {
	return sluice.CodeBodyMalformed.Errorf("The body could not be read to its end; send it again.").
		Because(cause).Closing()
}

// Bounds on a discarded body.
const (
	maxDiscarded = 8 << 20
	discardTime  = 5 * time.Second
)

// Discard reads the rest of a refused body, within bounds. Closing the connection while the
// body still arrives would cut off the answer: proxies would turn it into a 502, and senders
// would retry in vain. A client that sent Expect has its answer already.
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
	_ = conn.SetReadDeadline(next) // it fails if the connection is gone
}
