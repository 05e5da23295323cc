package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// Retry implements sluice.WaitingEvents: it makes the events of a query that wait for another
// attempt due now. The waiting room is known here; an event that keeps its place is known to
// the node that has it.
func (q *Queue) Retry(query sluice.RetryQuery) (retried int) {
	o := hurryOrder{Node: q.waiting.node, Code: query.Code, Since: query.Since, DryRun: query.DryRun}
	if query.TraceID != "" {
		o.Key = strconv.FormatUint(q.ids.Nonce(query.TraceID), 36) + "-"
	}
	for binding, p := range q.listeners.Bound() {
		if (query.Pipeline == "" || query.Pipeline == p.Name) && query.Cover.Name(p.Name) {
			o.Bindings = append(o.Bindings, binding)
		}
	}
	return q.waiting.hurry(o) + q.waiting.hurryHeld(o) + q.waiting.hurryElsewhere(o)
}

// A hurryOrder says which events are made due, or only counted.
type hurryOrder struct {
	Node     string    `json:"node"` // that gives it
	Bindings []string  `json:"bindings"`
	Key      string    `json:"key,omitempty"` // that of the events begins with it
	Code     string    `json:"code,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	DryRun   bool      `json:"dryRun,omitempty"`
}

func (o hurryOrder) fits(e *entry) bool {
	return e.Attempts > 0 && strings.HasPrefix(e.key, o.Key) && (o.Code == "" || e.Code == o.Code) && !e.First.Before(o.Since)
}

// hurry makes the events due that are in the waiting room.
func (w *Waiting) hurry(o hurryOrder) (hurried int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, binding := range o.Bindings {
		l := w.line(binding)
		for _, e := range l.events {
			if e.index < 0 || !o.fits(e) { // one that was taken is in its attempt
				continue
			}
			hurried++
			if !o.DryRun {
				w.advance(l, e)
			}
		}
	}
	return hurried
}

// hurryHeld makes the events due that keep their place on this node.
func (w *Waiting) hurryHeld(o hurryOrder) (hurried int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, binding := range o.Bindings {
		for h := range w.line(binding).held {
			if o.fits(&h.entry) {
				hurried++
				if !o.DryRun {
					h.wake()
				}
			}
		}
	}
	return hurried
}

// hurryWait is how long other nodes have to say how many events they made due. Nobody knows
// how many nodes there are.
const hurryWait = 300 * time.Millisecond

// hurryElsewhere makes the events due that keep their place on other nodes.
func (w *Waiting) hurryElsewhere(o hurryOrder) (hurried int) {
	text, err := value.Marshal(o)
	if w.host.SoleWriter || len(o.Bindings) == 0 || err != nil {
		return 0
	}
	inbox := w.host.Conn.NewInbox()
	replies, err := w.host.Conn.SubscribeSync(inbox)
	if err != nil {
		return 0
	}
	defer func() { _ = replies.Unsubscribe() }()                     // fails if the connection has gone, which ends it too
	_ = w.host.Conn.PublishRequest(stream.RetrySubject, inbox, text) // if this fails, nobody replies
	ctx, cancel := context.WithTimeout(context.Background(), hurryWait)
	defer cancel()
	for {
		reply, err := replies.NextMsgWithContext(ctx)
		if err != nil {
			return hurried
		}
		count, _ := strconv.Atoi(string(reply.Data))
		hurried += count
	}
}

// obey makes the events due that keep their place here, when another node says so.
func (w *Waiting) obey(running context.Context) error {
	sub, err := w.host.Conn.Subscribe(stream.RetrySubject, func(msg *nats.Msg) {
		var o hurryOrder
		if json.Unmarshal(msg.Data, &o) == nil && o.Node != w.node {
			_ = msg.Respond([]byte(strconv.Itoa(w.hurryHeld(o)))) // the events are due all the same
		}
	})
	if err == nil {
		context.AfterFunc(running, func() { _ = sub.Unsubscribe() })
	}
	return err
}

// advance makes an event due now. Only this node knows: after a crash the event is due
// when it was before. The caller holds the lock.
func (w *Waiting) advance(l *line, e *entry) {
	if now := w.now().UTC().Round(0); now.Before(e.Due) {
		e.Due = now
		l.enter(e)
	}
}

// A held event keeps its place with the consumer while it waits.
type held struct {
	entry
	wake func()
}

// hold returns when an event that keeps its place is due, or with the error of ctx.
func (w *Waiting) hold(ctx context.Context, binding, key string, s state) error {
	woken, wake := context.WithCancel(ctx)
	defer wake()
	h := &held{entry{key: key, state: s}, wake}
	w.mu.Lock()
	w.line(binding).held[h] = true
	w.mu.Unlock()
	err := w.until(woken, w.onClock(s, time.Time{}))
	w.mu.Lock()
	delete(w.line(binding).held, h)
	w.mu.Unlock()
	if ctx.Err() == nil {
		return nil
	}
	return err
}

const (
	followRate  = 100 // events a second that follow when their target is back
	followEvery = 10 * time.Millisecond
)

// targetBack lets the events follow that wait for the target of a pipeline, which has
// just taken one: in the order they came, and not all at once.
func (w *Waiting) targetBack(binding string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[binding]
	if l == nil || l.following != nil || len(l.due) == 0 && len(l.held) == 0 {
		return
	}
	var follow []*entry
	for _, e := range l.due {
		if e.Recovers && e.Due.After(w.now()) {
			follow = append(follow, e)
		}
	}
	for h := range l.held {
		if h.Recovers {
			h.wake()
		}
	}
	if len(follow) == 0 {
		return
	}
	slices.SortFunc(follow, func(a, b *entry) int { return cmp.Compare(sequenceOf(a.key), sequenceOf(b.key)) })
	l.following = follow
	w.followOn(l, rate.NewLimiter(followRate, followRate))
}

// targetAway stops the events that follow: the next one that succeeds lets them go on.
func (w *Waiting) targetAway(binding string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.lines[binding]; l != nil {
		l.following = nil
	}
}

// followOn makes the next events due that follow, and comes back for the rest. The caller
// holds the lock.
func (w *Waiting) followOn(l *line, pace *rate.Limiter) {
	for len(l.following) > 0 && pace.Allow() {
		e := l.following[0]
		l.following = l.following[1:]
		if e.index >= 0 && l.events[e.key] == e { // it may have been taken or forgotten
			w.advance(l, e)
		}
	}
	if len(l.following) == 0 {
		l.following = nil
		return
	}
	time.AfterFunc(followEvery, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.followOn(l, pace)
	})
}
