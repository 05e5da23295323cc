package queue

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

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
	return e.Attempts > 0 && strings.HasPrefix(e.key, o.Key) && (o.Code == "" || e.Code == o.Code) &&
		!e.First.Before(o.Since)
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
	// fails if the connection has gone, which ends it too
	defer func() { _ = replies.Unsubscribe() }()
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
