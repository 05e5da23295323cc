package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// A Hub wakes callers that wait for the outcomes of an event. It knows them by trace
// id, since they begin to wait before the event has a sequence: a pipeline may be done
// before its caller knows that the event is durable.
type Hub struct {
	mu      sync.Mutex
	waiters map[string][]*Waiter
}

// A Waiter is one caller that waits.
type Waiter struct {
	mu       sync.Mutex
	outcomes []eventOutcome
	signal   chan struct{} // holds one token while there are outcomes to look at
}

// eventOutcome is an outcome of the event with a sequence: several events may
// share a trace id.
type eventOutcome struct {
	sequence uint64
	outcome  sluice.Outcome
}

// NewHub returns a hub without waiters.
func NewHub() *Hub { return &Hub{waiters: make(map[string][]*Waiter)} }

// Wait begins to collect the outcomes of a trace id.
func (h *Hub) Wait(traceID string) *Waiter {
	w := &Waiter{signal: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters[traceID] = append(h.waiters[traceID], w)
	return w
}

// Leave ends what Wait began.
func (h *Hub) Leave(traceID string, w *Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := slices.DeleteFunc(h.waiters[traceID], func(other *Waiter) bool { return other == w })
	h.waiters[traceID] = left
	if len(left) == 0 {
		delete(h.waiters, traceID)
	}
}

// notify hands an outcome to the callers that wait for it.
func (h *Hub) notify(traceID string, sequence uint64, o sluice.Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.waiters[traceID] {
		w.mu.Lock()
		w.outcomes = append(w.outcomes, eventOutcome{sequence, o})
		w.mu.Unlock()
		select {
		case w.signal <- struct{}{}:
		default:
		}
	}
}

// Await adds the outcomes of the event with a sequence as they come, until all
// of names are there, the time is up, or ctx ends.
func (w *Waiter) Await(ctx context.Context, sequence uint64, names []string, outcomes map[string]sluice.Outcome, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		w.mu.Lock()
		for _, o := range w.outcomes {
			if o.sequence == sequence {
				outcomes[o.outcome.Pipeline] = o.outcome
			}
		}
		w.outcomes = nil
		w.mu.Unlock()
		if !slices.ContainsFunc(names, func(name string) bool { _, ok := outcomes[name]; return !ok }) {
			return
		}
		select {
		case <-w.signal:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// waitsHeader names, with a stored event, the node whose caller waits.
const waitsHeader = "Sluice-Waits"

// notices tell the hub, and other nodes that wait, of outcomes. The event names the
// node that has accepted the call; a node at which a result is polled tells all others.
type notices struct {
	host *stream.Host
	hub  *Hub
	node string // this one

	mu      sync.Mutex
	waiting map[string][]string // nodes by trace id
}

func newNotices(h *stream.Host, hub *Hub) *notices {
	return &notices{host: h, hub: hub, node: rand.Text(), waiting: make(map[string][]string)}
}

// A notice tells another node that there is an outcome.
type notice struct {
	TraceID  string         `json:"traceId"`
	Sequence uint64         `json:"sequence"`
	Outcome  sluice.Outcome `json:"outcome"`
}

// A request says that a node waits for the outcomes of a trace id, for a while.
type request struct {
	TraceID string        `json:"traceId"`
	Node    string        `json:"node"`
	Wait    time.Duration `json:"wait"`
}

// subscribe hands the outcomes of other nodes to the callers that wait here, and
// learns who waits elsewhere.
func (n *notices) subscribe(running context.Context) error {
	if n.host.SoleWriter {
		return nil
	}
	for subject, handle := range map[string]nats.MsgHandler{
		stream.DonePrefix + n.node: func(msg *nats.Msg) {
			var told notice
			if json.Unmarshal(msg.Data, &told) == nil {
				n.hub.notify(told.TraceID, told.Sequence, told.Outcome)
			}
		},
		stream.AwaitSubject: func(msg *nats.Msg) {
			var r request
			if json.Unmarshal(msg.Data, &r) == nil && r.Node != n.node {
				n.expect(r)
			}
		},
	} {
		sub, err := n.host.Conn.Subscribe(subject, handle)
		if err != nil {
			return err
		}
		context.AfterFunc(running, func() { _ = sub.Unsubscribe() }) // fails if the connection has gone, which ends it too
	}
	return nil
}

// maxWait bounds how long another node is believed to wait.
const maxWait = time.Minute

// expect remembers that another node waits.
func (n *notices) expect(r request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting[r.TraceID] = append(n.waiting[r.TraceID], r.Node)
	time.AfterFunc(min(r.Wait, maxWait), func() { n.forget(r.TraceID) })
}

// forget forgets the node that has waited longest for a trace id.
func (n *notices) forget(traceID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if left := n.waiting[traceID]; len(left) > 1 {
		n.waiting[traceID] = left[1:]
	} else {
		delete(n.waiting, traceID)
	}
}

// ask asks the other nodes, if any, to tell this one of the outcomes of a trace id.
func (n *notices) ask(traceID string, wait time.Duration) bool {
	if n.host.SoleWriter {
		return false
	}
	text, err := value.Marshal(request{traceID, n.node, wait})
	if err == nil {
		_ = n.host.Conn.Publish(stream.AwaitSubject, text) // if this fails, the caller waits in vain, and asks again
	}
	return true
}

// header names this node as one whose caller waits.
func (n *notices) header() nats.Header {
	if n.host.SoleWriter {
		return nil
	}
	return nats.Header{waitsHeader: {n.node}}
}

// tell wakes those who wait for an outcome, here and on other nodes. first is the node
// that the event names, "" if none.
func (n *notices) tell(sequence uint64, traceID string, outcome sluice.Outcome, first string) error {
	n.hub.notify(traceID, sequence, outcome)
	n.mu.Lock()
	nodes := slices.Clone(n.waiting[traceID])
	n.mu.Unlock()
	if first != "" && first != n.node {
		nodes = append(nodes, first)
	}
	if len(nodes) == 0 {
		return nil
	}
	text, err := value.Marshal(notice{traceID, sequence, outcome})
	if err != nil {
		return err
	}
	slices.Sort(nodes)
	for _, node := range slices.Compact(nodes) {
		_ = n.host.Conn.Publish(stream.DonePrefix+node, text) // a node that misses it finds the outcome in the stream
	}
	return nil
}
