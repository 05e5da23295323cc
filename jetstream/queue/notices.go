package queue

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

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

// subscribe hands the outcomes of other nodes to the callers that wait here, and
// learns who waits elsewhere.
func (n *notices) subscribe(running context.Context) error {
	if n.host.SoleWriter {
		return nil
	}
	err := n.host.Subscribe(running, stream.DonePrefix+n.node, func(msg *nats.Msg) {
		var heard notice
		if json.Unmarshal(msg.Data, &heard) == nil {
			n.hub.notify(heard.TraceID, heard.Sequence, heard.Outcome)
		}
	})
	if err != nil {
		return err
	}
	return n.host.Subscribe(running, stream.AwaitSubject, func(msg *nats.Msg) {
		var r request
		if json.Unmarshal(msg.Data, &r) == nil && r.Node != n.node {
			n.expect(r)
		}
	})
}

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

// Ask asks the other nodes to tell this one of the outcomes of an event, for a while. It
// returns false if there are no other nodes, and so no outcomes to have missed.
func (n *notices) Ask(traceID string, wait time.Duration) bool {
	if n.host.SoleWriter {
		return false
	}
	text, err := value.Marshal(request{traceID, n.node, wait})
	if err == nil {
		_ = n.host.Conn.Publish(stream.AwaitSubject, text) // if this fails, the caller waits in vain, and asks again
	}
	return true
}

// Waits returns the header of an event that a caller waits for at this node.
func (n *notices) Waits() nats.Header {
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

// maxWait bounds how long another node is believed to wait.
const maxWait = time.Minute
