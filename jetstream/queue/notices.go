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
)

const (
	doneSubject  = "svc.done." // before the node that is told of an outcome
	awaitSubject = "svc.await" // nodes say here that they wait for an outcome

	// waitsHeader names, with a stored event, the node whose caller waits.
	waitsHeader = "Sluice-Waits"
)

// notices tell of outcomes to the nodes that wait for them, and to no other. The
// node that has accepted a call is named with its event; one that a result is
// polled at says so to all.
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
	for subject, handle := range map[string]nats.MsgHandler{
		doneSubject + n.node: func(msg *nats.Msg) {
			var told notice
			if json.Unmarshal(msg.Data, &told) == nil {
				n.hub.notify(told.TraceID, told.Sequence, told.Outcome)
			}
		},
		awaitSubject: func(msg *nats.Msg) {
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

// maxWait bounds how long a node is taken at its word that it waits.
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

// ask has the other nodes tell this one of the outcomes of a trace id.
func (n *notices) ask(traceID string, wait time.Duration) {
	text, err := json.Marshal(request{traceID, n.node, wait})
	if err == nil {
		_ = n.host.Conn.Publish(awaitSubject, text) // otherwise the caller waits for nothing, and asks again
	}
}

// tell tells those who wait for an outcome, here and on other nodes. The first of
// these is named with the event, if any.
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
	text, err := json.Marshal(notice{traceID, sequence, outcome})
	if err != nil {
		return err
	}
	slices.Sort(nodes)
	for _, node := range slices.Compact(nodes) {
		_ = n.host.Conn.Publish(doneSubject+node, text) // who misses it finds the outcome in the stream
	}
	return nil
}
