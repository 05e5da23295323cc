package portal

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"sluice"
)

// beatEvery is how often an idle stream checks the reader's permission.
const beatEvery = 10 * time.Second

// live streams calls and runs to a page as they happen, as Server-Sent Events.
func (p *Portal) live(w http.ResponseWriter, r *http.Request) error {
	user := sluice.UserFrom(r.Context())
	if !p.may(user, "trace.get") {
		return sluice.NotPermitted("trace.get")
	}
	if !p.readers.Enter(user.Name) {
		return sluice.Errorf(sluice.CodeTooManyTails, "You have as many pages live as one user may.").After(beatEvery)
	}
	defer p.readers.Leave(user.Name)
	if err := p.streams.Enter(); err != nil {
		return sluice.Errorf(sluice.CodeTooManyTails, "As many pages are live as the server allows.").OfKind(sluice.Unavailable).After(beatEvery)
	}
	defer p.streams.Leave()
	query := r.URL.Query()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	q := sluice.TailQuery{EventKey: query.Get("eventKey"), TraceID: query.Get("trace"), After: r.Header.Get("Last-Event-ID"), Cover: user.CoverOf("trace.get", true), Known: user.Cover(sluice.MaySeePayload)}
	entries, err := p.Tail.Follow(ctx, q)
	if err != nil {
		return err
	}
	queue := make(chan sluice.TailEntry)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	reading.Go(func() {
		defer close(queue)
		for entry, err := range entries {
			if err != nil {
				return // the page tries again
			}
			select {
			case queue <- entry:
			case <-ctx.Done():
				return
			}
		}
	})
	p.stream(w, r, q, queue)
	return nil
}

// stream writes entries until the reader leaves or loses the permission, or the
// server stops.
func (p *Portal) stream(w http.ResponseWriter, r *http.Request, q sluice.TailQuery, queue <-chan sluice.TailEntry) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the stream outlives the time limit of a request
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not hold entries back
	write := func(format string, args ...any) bool {
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && control.Flush() == nil
	}
	// still reports whether the reader is signed in and has the permission.
	still := func() bool {
		user, err := p.user(&recorder{header: make(http.Header)}, r)
		return err == nil && q.Cover.Within(user.CoverOf("trace.get", true)) && q.Known.Within(user.Cover(sluice.MaySeePayload))
	}
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for going := write(": following\n\n"); going; {
		select {
		case <-r.Context().Done():
			return
		case <-p.Stopping:
			return
		case <-beat.C:
			going = still() && write(": still here\n\n")
		case entry, open := <-queue:
			going = open && still() && write("id: %s\nevent: %s\ndata: %s\n\n", entry.Position, entry.Type, entry.Data)
		}
	}
}
