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
	o := hurryOrder{Node: q.Waiting.node, Code: query.Code, Since: query.Since, DryRun: query.DryRun}
	if query.TraceID != "" {
		o.Key = strconv.FormatUint(q.ids.Nonce(query.TraceID), 36) + "-"
	}
	for binding, p := range q.Listeners.Bound() {
		if (query.Pipeline == "" || query.Pipeline == p.Name) && query.Cover.Name(p.Name) {
			o.Bindings = append(o.Bindings, binding)
		}
	}
	return q.Waiting.hurry(o, true) + q.Waiting.hurryElsewhere(o)
}

// A hurryOrder says which events are made due, or only counted.
type hurryOrder struct {
	Node     string    `json:"node"` // that gives it
	Bindings []string  `json:"bindings"`
	Key      string    `json:"key,omitempty"` // that of the events begins with it
	Code     string    `json:"code,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	DryRun   bool      `json:"dryRun,omitempty"`
	Answer   bool      `json:"answer,omitempty"` // events that wait for one, otherwise for another attempt
}

func (o hurryOrder) fits(e *entry) bool {
	if o.Answer {
		return e.Answer && e.key() == o.Key
	}
	return e.retries() && (o.Code == "" || e.code.Value() == o.Code) && e.First >= momentOf(o.Since) &&
		(o.Key == "" || strings.HasPrefix(e.key(), o.Key))
}

// hurry makes the events due that keep their place on this node and, if room says so, those in
// the waiting room.
func (w *Waiting) hurry(o hurryOrder, room bool) (hurried int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.moment()
	for _, binding := range o.Bindings {
		l := w.line(binding)
		for e := range l.all() {
			if e.here() && !room || !o.fits(e) || o.Answer && e.busy() { // a run that goes on finds its answer
				continue
			}
			hurried++
			switch {
			case o.DryRun:
			case e.busy():
				e.hurried = true
			case e.parked:
				e.at = min(e.at, now)
			default:
				e.tried = 0
				l.advance(e, now)
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
	return w.host.Subscribe(running, stream.RetrySubject, func(msg *nats.Msg) {
		var o hurryOrder
		if json.Unmarshal(msg.Data, &o) == nil && o.Node != w.node {
			_ = msg.Respond([]byte(strconv.Itoa(w.hurry(o, false)))) // the events are due all the same
		}
	})
}
