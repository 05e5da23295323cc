package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/command"
	"sluice/problem"
	"sluice/stretch"
	"sluice/value"
)

const (
	tailPermission = "trace.get"

	tailQueue     = 64                     // entries that wait for a reader
	tailPatience  = 500 * time.Millisecond // before the first is dropped
	tailHeartbeat = 15 * time.Second       // keeps proxies from taking the connection for dead
	tailRecheck   = 30 * time.Second       // between checks whether the reader still may read
)

// events sends calls and runs as they happen, as Server-Sent Events.
func (a *API) events(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return notAllowed("GET")
	}
	user, err := a.mayTail(w, r)
	if err != nil {
		return err
	}
	q, err := tailQuery(r)
	if err != nil {
		return err
	}
	q.Cover, q.Known = user.CoverOf(tailPermission, true), user.Cover(sluice.MaySeePayload)
	leave, err := a.enterTail(user)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(r.Context())
	entries, err := a.Tail.Follow(ctx, q)
	if err != nil {
		cancel()
		return err
	}
	t := &tail{queue: make(chan sluice.TailEntry, tailQueue), w: w, control: http.NewResponseController(w)}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	reading.Go(func() {
		defer close(t.queue)
		for entry, err := range entries {
			if err != nil {
				t.failure = err
				return
			}
			t.offer(ctx, entry)
		}
	})
	_ = a.serveTail(r, t, q) // the reader has gone
	return nil
}

// enterTail counts a tail until leave is called.
func (a *API) enterTail(user sluice.User) (leave func(), err error) {
	if !a.readers.Enter(user.Name) {
		return nil, tooMany(sluice.CodeTooManyTails, "You have as many live tails open as one user may.")
	}
	if a.tails.Enter() != nil {
		a.readers.Leave(user.Name)
		return nil, sluice.Passing(sluice.CodeTooManyTails, "As many live tails are open as the server allows.")
	}
	return func() {
		a.tails.Leave()
		a.readers.Leave(user.Name)
	}, nil
}

// mayTail returns the user, and refuses one who may not read traces.
func (a *API) mayTail(w http.ResponseWriter, r *http.Request) (sluice.User, error) {
	user, err := a.Authenticate(w, r)
	if err != nil {
		return sluice.User{}, err
	}
	if !user.MayCall(tailPermission, true) {
		return sluice.User{}, sluice.NotPermitted(tailPermission)
	}
	return user, nil
}

// mayGoOn refuses a reader who has lost the right to read the tail.
func (a *API) mayGoOn(r *http.Request, q sluice.TailQuery) error {
	user, err := a.mayTail(Unheard{}, r)
	if err == nil && (!q.Cover.Within(user.CoverOf(tailPermission, true)) || !q.Known.Within(user.Cover(sluice.MaySeePayload))) {
		err = sluice.NotPermitted(tailPermission)
	}
	return err
}

func tailQuery(r *http.Request) (q sluice.TailQuery, err error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, command.MalformedQuery()
	}
	q.After = r.Header.Get("Last-Event-ID")
	targets := map[string]*string{"eventKey": &q.EventKey, "traceId": &q.TraceID, "lastEventId": &q.After}
	for name, values := range query {
		target, known := targets[name]
		if !known || len(values) != 1 {
			return q, sluice.Errorf(sluice.CodeParameterUnknown, "The parameters here are eventKey, traceId and lastEventId, each given once; not %q.", name).About(name)
		}
		if *target = values[0]; name == "lastEventId" && r.Header.Get("Last-Event-ID") != "" {
			q.After = r.Header.Get("Last-Event-ID") // an EventSource that reconnects knows better
		}
	}
	return q, nil
}

// A tail is one reader of the entries. Each follows the journal on its own, so that no
// reader waits for another.
type tail struct {
	queue   chan sluice.TailEntry
	stalled bool // the reader did not take one in time
	dropped atomic.Int64
	failure error // why the queue was closed, if the reader did not go

	w         http.ResponseWriter
	control   *http.ResponseController
	unwritten []byte
}

// offer hands on an entry, or drops it if the reader is too slow. Past entries are never
// dropped: they are stored, so they can wait.
func (t *tail) offer(ctx context.Context, entry sluice.TailEntry) {
	select {
	case t.queue <- entry:
		t.stalled = false
		return
	default:
	}
	var patience <-chan time.Time // for ever
	if !entry.Past {
		if t.stalled {
			t.dropped.Add(1)
			return
		}
		timer := time.NewTimer(stretch.Of(tailPatience))
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case t.queue <- entry:
	case <-patience:
		t.stalled = true
		t.dropped.Add(1)
	case <-ctx.Done():
	}
}

// serveTail writes until the reader goes or may not go on, or the server stops.
func (a *API) serveTail(r *http.Request, t *tail, q sluice.TailQuery) error {
	// A tail takes longer than reading a request.
	_ = t.control.SetReadDeadline(time.Time{})
	header := t.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // a proxy must not wait for more
	if err := t.write(": following\n\n"); err != nil {
		return err
	}
	heartbeat, recheck := time.NewTicker(tailHeartbeat), time.NewTicker(tailRecheck)
	defer heartbeat.Stop()
	defer recheck.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return nil
		case <-a.Stopping:
			return nil
		case <-heartbeat.C:
			err = t.write(": still here\n\n")
		case <-recheck.C:
			if err := a.mayGoOn(r, q); err != nil {
				return t.end(err)
			}
		case entry, open := <-t.queue:
			if !open {
				return t.end(t.failure)
			}
			err = t.tell(entry)
		}
		if err != nil {
			return err
		}
	}
}

// tell writes an entry. If others wait behind it, it is written together with them.
func (t *tail) tell(entry sluice.TailEntry) error {
	t.unwritten = appendEvent(t.unwritten, entry.Position, entry.Type, entry.Data)
	if len(t.queue) > 0 && len(t.unwritten) < 64<<10 {
		return nil
	}
	return t.write("")
}

// end tells the reader why there is no more.
func (t *tail) end(why error) error {
	if why == nil {
		return nil
	}
	problem, err := value.Marshal(problem.Of(why))
	if err != nil {
		return err
	}
	return t.write(string(appendEvent(nil, "", "error", problem)))
}

// write sends the entries that are not written yet, how many were dropped, and a text.
func (t *tail) write(text string) error {
	if n := t.dropped.Swap(0); n > 0 {
		t.unwritten = appendEvent(t.unwritten, "", "dropped", fmt.Appendf(nil, `{"count":%d}`, n))
	}
	t.unwritten = append(t.unwritten, text...)
	_, err := t.w.Write(t.unwritten)
	t.unwritten = t.unwritten[:0]
	if err != nil {
		return err
	}
	return t.control.Flush()
}

// appendEvent appends an event as the stream has it. Its data is one line.
func appendEvent(b []byte, id, event string, data []byte) []byte {
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	b = append(append(append(b, "event: "...), event...), '\n')
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// Unheard is an answer that nobody reads, or that has already begun.
type Unheard http.Header

// Header implements http.ResponseWriter.
func (u Unheard) Header() http.Header { return http.Header(u) }

// Write implements http.ResponseWriter.
func (Unheard) Write(content []byte) (int, error) { return len(content), nil }

// WriteHeader implements http.ResponseWriter.
func (Unheard) WriteHeader(int) {}

// SetReadDeadline does nothing: the body is here already.
func (Unheard) SetReadDeadline(time.Time) error { return nil }
