package stream

import (
	"bytes"
	"context"
	"errors"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// clusterTimeout bounds how long a message may take to be stored on an
	// external engine. Senders wait 3 to 5 seconds in all.
	clusterTimeout = 2400 * time.Millisecond
	// ackWithin is how long one attempt may take.
	ackWithin = clusterTimeout / 2
	// attemptPause is the pause before another attempt.
	attemptPause = 100 * time.Millisecond
	// Duplicates is for how long an external engine remembers the ids of
	// messages, to store a message once that is sent twice.
	Duplicates = 2 * time.Minute
)

// clusterWriter stores messages on an external engine, which acknowledges each.
// One loop hands them to the connection, since that may block: callers wait no
// longer than their time, and what waits longer is never sent.
type clusterWriter struct {
	host    *Host
	js      jetstream.JetStream
	stream  string
	waiting chan *publication

	withdrawn string      // subject of withdrawals
	doubted   chan string // ids of messages that are to be withdrawn
}

// A publication is one attempt to store a message.
type publication struct {
	msg   *nats.Msg
	id    string
	until time.Time // not to be sent any more then
	sent  chan sending
}

type sending struct {
	ack jetstream.PubAckFuture
	err error
}

func newClusterWriter(running context.Context, h *Host, stream, withdrawn string) (*clusterWriter, error) {
	js, err := jetstream.New(h.Conn, jetstream.WithPublishAsyncTimeout(clusterTimeout), jetstream.WithPublishAsyncMaxPending(2*maxWaiting))
	if err != nil {
		return nil, err
	}
	w := &clusterWriter{
		host: h, js: js, stream: stream,
		waiting:   make(chan *publication, maxWaiting),
		withdrawn: withdrawn,
		doubted:   make(chan string, maxWaiting),
	}
	h.Start(func() { w.run(running) })
	if withdrawn != "" {
		h.Start(func() { w.withdraw(running) })
	}
	return w, nil
}

// run sends what waits until ctx ends.
func (w *clusterWriter) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-w.waiting:
			if time.Now().After(p.until) {
				continue
			}
			// While it connects, the client library holds back what it is
			// given, for as long as that takes.
			if !w.host.Link.connected() {
				p.sent <- sending{err: nats.ErrDisconnected}
				continue
			}
			ack, err := w.js.PublishMsgAsync(p.msg, jetstream.WithMsgID(p.id), jetstream.WithExpectStream(w.stream), jetstream.WithRetryAttempts(0))
			p.sent <- sending{ack, err}
		}
	}
}

// Write implements Writer. An attempt that was not answered is made again
// with the same id, so that the engine stores the message once.
func (w *clusterWriter) Write(_ context.Context, subject, id string, data []byte) (uint64, error) {
	data = bytes.Clone(data) // an attempt may still hold it when another one has succeeded
	until := time.Now().Add(clusterTimeout)
	doubtful := false
	for {
		sequence, sent, err := w.attempt(subject, id, data, until)
		w.tell(err)
		if err == nil {
			return sequence, nil
		}
		doubtful = doubtful || sent
		if LimitOf(err) != "" || time.Until(until) < attemptPause {
			w.doubt(id, doubtful)
			return 0, NotTaken("the event", err)
		}
		time.Sleep(attemptPause)
	}
}

// attempt sends a message once, and waits for its acknowledgement. It tells
// whether the message may be stored without one.
func (w *clusterWriter) attempt(subject, id string, data []byte, until time.Time) (sequence uint64, sent bool, err error) {
	within := min(ackWithin, time.Until(until))
	timer := time.NewTimer(within)
	defer timer.Stop()
	p := &publication{
		msg:   &nats.Msg{Subject: subject, Data: data, Header: nats.Header{}},
		id:    id,
		until: time.Now().Add(within),
		sent:  make(chan sending, 1),
	}
	select {
	case w.waiting <- p:
	default:
		return 0, false, errors.New("too many calls are waiting for the engine")
	}
	var s sending
	select {
	case s = <-p.sent:
	case <-timer.C:
		return 0, true, nats.ErrTimeout // the loop may be at it
	}
	if s.err != nil {
		return 0, true, s.err
	}
	select {
	case ack := <-s.ack.Ok():
		return ack.Sequence, true, nil
	case err := <-s.ack.Err():
		return 0, true, err
	case <-timer.C:
		return 0, true, nats.ErrTimeout
	}
}

// tell lets the host know whether the engine takes events.
func (w *clusterWriter) tell(err error) {
	switch {
	case w.withdrawn == "": // others may be taken when events are not
	case err == nil:
		w.host.Wrote()
	default:
		w.host.Doubt()
	}
}

// doubt has a message withdrawn that may yet be stored, though its caller is
// about to be refused.
func (w *clusterWriter) doubt(id string, sent bool) {
	if w.withdrawn == "" || !sent {
		return
	}
	select {
	case w.doubted <- id:
	default: // so many that the engine can't have read them all
	}
}

// withdraw stores withdrawals until ctx ends. A server that hung may read, when
// it goes on, what callers sent who were refused long ago. A withdrawal has the
// id of such a message: of the two the engine stores the one that comes first.
func (w *clusterWriter) withdraw(ctx context.Context) {
	for {
		var id string
		select {
		case <-ctx.Done():
			return
		case id = <-w.doubted:
		}
		for given := time.Now(); time.Since(given) < Duplicates && !w.withdrawOne(ctx, id); {
			select {
			case <-ctx.Done():
				return
			case <-time.After(attemptPause):
			}
		}
	}
}

func (w *clusterWriter) withdrawOne(ctx context.Context, id string) (done bool) {
	if w.host.Ready() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, ackWithin)
	defer cancel()
	_, err := w.js.Publish(ctx, w.withdrawn, nil, jetstream.WithMsgID(id), jetstream.WithExpectStream(w.stream))
	return err == nil
}

// Durable implements Writer: what can be read from an external engine is
// durable.
func (w *clusterWriter) Durable() uint64 { return math.MaxUint64 }
