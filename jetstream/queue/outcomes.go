package queue

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

const (
	// OutcomeStream is the stream that holds the outcomes.
	OutcomeStream = stream.Results
	outcomePrefix = "svc.result."
)

// Outcomes keeps what pipelines have made of events, until results expire. The
// subject of an outcome has the event's nonce beside its sequence: after a power
// cut the sequence of a lost event is used again.
type Outcomes struct {
	host    *stream.Host
	notices *notices
	keep    Retention
	ids     correlation.IDs
	stream  jetstream.Stream
	writer  stream.Writer
	kept    atomic.Int64 // for how many nanoseconds outcomes are kept; 0: as long as they should be
}

// Retention is how long outcomes are kept, and how many of them.
type Retention struct {
	Age      time.Duration
	MaxCount int64
	MaxBytes int64
}

// NewOutcomes returns outcomes that are yet to be set up. The hub is notified
// of each.
func NewOutcomes(h *stream.Host, hub *Hub, keep Retention) *Outcomes {
	return &Outcomes{host: h, notices: newNotices(h, hub), keep: keep}
}

// SetUp creates the stream where it is missing.
func (o *Outcomes) SetUp(ctx, running context.Context, ids correlation.IDs) (err error) {
	o.ids = ids
	o.stream, err = o.host.OpenStream(ctx, o.host.JS, o.host.Config(jetstream.StreamConfig{
		Name:              OutcomeStream,
		Subjects:          []string{outcomePrefix + ">"},
		MaxAge:            max(o.keep.Age, 100*time.Millisecond), // the engine's minimum
		MaxMsgs:           o.keep.MaxCount,
		MaxBytes:          o.keep.MaxBytes,
		MaxMsgsPerSubject: 1,
		AllowDirect:       o.host.DirectReads,
	}))
	if err != nil {
		return err
	}
	if o.writer, err = o.host.StartWriter(running, o.stream, stream.WriterOptions{Busy: true}); err != nil {
		return err
	}
	o.watchKept(running)
	if !o.host.SoleWriter {
		return o.notices.subscribe(running)
	}
	return nil
}

func (o *Outcomes) subject(sequence uint64, traceID, pipeline string) string {
	b := append(make([]byte, 0, 64), outcomePrefix...)
	b = strconv.AppendUint(b, o.ids.Nonce(traceID), 36)
	b = append(b, '-')
	b = strconv.AppendUint(b, sequence, 36)
	return string(b) + "." + pipeline
}

// buffers holds space for encoded outcomes.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Put stores an outcome.
func (o *Outcomes) Put(ctx context.Context, sequence uint64, traceID string, outcome sluice.Outcome) error {
	buffer := buffers.Get().(*[]byte)
	data := outcome.AppendJSON((*buffer)[:0])
	subject := o.subject(sequence, traceID, outcome.Pipeline)
	if _, err := o.writer.Write(ctx, subject, nil, data); err != nil {
		return err
	}
	*buffer = data
	buffers.Put(buffer)
	return nil
}

// Ask has the other nodes tell this one of the outcomes of an event, for a while. It
// tells whether there are other nodes, and so whether some may have been missed
// before.
func (o *Outcomes) Ask(traceID string, wait time.Duration) bool {
	if o.host.SoleWriter {
		return false
	}
	o.notices.ask(traceID, wait)
	return true
}

// Waits is the header of an event for which a caller waits at this node.
func (o *Outcomes) Waits() nats.Header {
	if o.host.SoleWriter {
		return nil
	}
	return nats.Header{waitsHeader: {o.notices.node}}
}

// Get returns an outcome, nil if there is none (any more).
func (o *Outcomes) Get(ctx context.Context, sequence uint64, traceID, pipeline string) (*sluice.Outcome, error) {
	msg, err := o.stream.GetLastMsgForSubject(ctx, o.subject(sequence, traceID, pipeline))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil
	case err != nil:
		return nil, stream.NoAnswer(err)
	case time.Since(msg.Time) > o.keep.Age:
		return nil, nil
	}
	outcome := new(sluice.Outcome)
	return outcome, json.Unmarshal(msg.Data, outcome)
}

// Info asks the engine about the stream of outcomes.
func (o *Outcomes) Info(ctx context.Context) (*jetstream.StreamInfo, error) {
	return o.stream.Info(ctx)
}
