package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

const (
	outcomeStream = "RESULTS"
	outcomePrefix = "svc.result."
	doneSubject   = "svc.done" // tells other nodes of an outcome
)

// outcomes keeps what pipelines have made of events, until results expire. The
// subject of an outcome has the event's nonce beside its sequence: after a power
// cut the sequence of a lost event is used again.
type outcomes struct {
	engine *Engine
	ids    correlator
	stream jetstream.Stream
	writer streamWriter
	hub    *hub
}

func (o *outcomes) setUp(ctx, running context.Context, ids correlator) (err error) {
	o.ids = ids
	opts := o.engine.opts
	age := max(opts.ResultTTL, 100*time.Millisecond) // the engine takes no less
	o.stream, err = o.engine.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:              outcomeStream,
		Subjects:          []string{outcomePrefix + ">"},
		MaxAge:            age,
		MaxMsgs:           opts.ResultMaxCount,
		MaxBytes:          opts.ResultMaxBytes,
		MaxMsgsPerSubject: 1,
		Replicas:          max(1, opts.Replicas),
		AllowDirect:       o.engine.server != nil, // a replica may be behind
		Duplicates:        min(o.engine.duplicateWindow(), age),
	})
	if err != nil {
		return err
	}
	if o.writer, err = o.engine.startWriter(running, o.stream); err != nil {
		return err
	}
	if o.engine.server == nil {
		return o.hearOthers(running)
	}
	return nil
}

// An announcement tells other nodes that there is an outcome.
type announcement struct {
	TraceID  string         `json:"traceId"`
	Sequence uint64         `json:"sequence"`
	Outcome  sluice.Outcome `json:"outcome"`
}

// hearOthers hands the outcomes of other nodes to callers who wait here.
func (o *outcomes) hearOthers(running context.Context) error {
	sub, err := o.engine.nc.Subscribe(doneSubject, func(msg *nats.Msg) {
		var a announcement
		if json.Unmarshal(msg.Data, &a) == nil {
			o.hub.tell(a.TraceID, a.Sequence, a.Outcome)
		}
	})
	if err != nil {
		return err
	}
	context.AfterFunc(running, func() { _ = sub.Unsubscribe() }) // fails if the connection has gone, which ends it too
	return nil
}

func (o *outcomes) subject(sequence uint64, traceID, pipeline string) string {
	b := append(make([]byte, 0, 64), outcomePrefix...)
	b = strconv.AppendUint(b, o.ids.nonce(traceID), 36)
	b = append(b, '-')
	b = strconv.AppendUint(b, sequence, 36)
	return string(b) + "." + pipeline
}

// put stores an outcome and then tells those who wait for it.
func (o *outcomes) put(ctx context.Context, sequence uint64, traceID string, outcome sluice.Outcome) error {
	buffer := buffers.Get().(*[]byte)
	data := outcome.AppendJSON((*buffer)[:0])
	subject := o.subject(sequence, traceID, outcome.Pipeline)
	if _, err := o.writer.write(ctx, subject, subject, data); err != nil {
		return err
	}
	*buffer = data
	buffers.Put(buffer)
	o.hub.tell(traceID, sequence, outcome)
	if o.engine.server == nil {
		text, err := json.Marshal(announcement{traceID, sequence, outcome})
		if err != nil {
			return err
		}
		_ = o.engine.nc.Publish(doneSubject, text) // who misses it finds the outcome in the stream
	}
	return nil
}

// get gives an outcome, nil if there is none (any more).
func (o *outcomes) get(ctx context.Context, sequence uint64, traceID, pipeline string) (*sluice.Outcome, error) {
	msg, err := o.stream.GetLastMsgForSubject(ctx, o.subject(sequence, traceID, pipeline))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil
	case err != nil:
		return nil, noAnswer(err)
	case time.Since(msg.Time) > o.engine.opts.ResultTTL:
		return nil, nil
	}
	outcome := new(sluice.Outcome)
	return outcome, json.Unmarshal(msg.Data, outcome)
}

// progress remembers for a moment how far the consumer of a pipeline is, so that
// polls don't ask the engine each time.
type progress struct {
	mu   sync.Mutex
	seen map[string]seenProgress // by binding
}

type seenProgress struct {
	at   time.Time
	info *jetstream.ConsumerInfo
}

const progressAge = 250 * time.Millisecond

// finished tells whether a pipeline is done with the event at a place. It may
// say no for a moment longer.
func (s *Events) finished(ctx context.Context, binding string, sequence uint64) (bool, error) {
	s.progress.mu.Lock()
	seen := s.progress.seen[binding]
	s.progress.mu.Unlock()
	if time.Since(seen.at) > progressAge {
		consumer, err := s.stream.Consumer(ctx, binding)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			return false, nil // it is about to be made again
		}
		if err != nil {
			return false, noAnswer(err)
		}
		seen = seenProgress{time.Now(), consumer.CachedInfo()}
		s.progress.mu.Lock()
		if len(s.progress.seen) > 10_000 {
			clear(s.progress.seen)
		}
		s.progress.seen[binding] = seen
		s.progress.mu.Unlock()
	}
	info := seen.info
	return sequence <= info.AckFloor.Stream || info.NumAckPending == 0 && sequence <= info.Delivered.Stream, nil
}
