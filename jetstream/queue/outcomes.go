package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/value"
	"sluice/wait"
)

// Outcomes keeps what pipelines have made of events, until results expire.
type Outcomes struct {
	*notices

	Shares stream.Shares // of pipelines

	host   *stream.Host
	keep   Retention
	ids    correlation.IDs
	stream stream.Written
}

// Retention is how long outcomes are kept, and how many of them.
type Retention struct {
	Age      time.Duration
	MaxCount int64
	MaxBytes int64
}

// NewOutcomes returns outcomes that the hub is notified of. SetUp comes next.
func NewOutcomes(h *stream.Host, hub *Hub, keep Retention) *Outcomes {
	n := &notices{host: h, hub: hub, node: rand.Text(), waiting: make(map[string][]string)}
	return &Outcomes{
		notices: n, host: h, keep: keep,
		Shares: stream.Shares{
			What: "results", Advice: "; raise --result-max-count or --result-max-bytes",
			Prefix: stream.OutcomePrefix + "*.", Bytes: stream.Bound(keep.MaxBytes), Count: stream.Bound(keep.MaxCount),
		},
	}
}

// SetUp creates the stream where it is missing.
func (o *Outcomes) SetUp(ctx, running context.Context, ids correlation.IDs) (err error) {
	o.ids = ids
	o.stream, err = o.host.OpenWritten(ctx, running, jetstream.StreamConfig{
		Name:              stream.Results,
		Subjects:          []string{stream.OutcomePrefix + ">"},
		MaxAge:            max(o.keep.Age, 100*time.Millisecond), // the engine's minimum
		MaxMsgs:           o.keep.MaxCount,
		MaxBytes:          o.keep.MaxBytes,
		MaxMsgsPerSubject: 1,
		AllowDirect:       o.host.DirectReads,
	}, stream.WriterOptions{Busy: true})
	if err != nil {
		return err
	}
	o.Shares.Keep(running, o.host, o.stream)
	// After the start: if that fails, the first line of the log says why.
	o.host.Start(func() {
		if wait.For(running, saidAfter) == nil {
			o.host.Log.Info(o.promise())
		}
	})
	return o.subscribe(running)
}

func (o *Outcomes) subject(sequence uint64, traceID, pipeline string) string {
	return stream.OutcomePrefix + eventKey(o.ids, sequence, traceID) + "." + pipeline
}

// eventKey returns the key of an event among outcomes and waiting events. The sequence
// is not enough: after a power cut the sequence of a lost event is used again.
func eventKey(ids correlation.IDs, sequence uint64, traceID string) string {
	return strconv.FormatUint(ids.Nonce(traceID), 36) + "-" + strconv.FormatUint(sequence, 36)
}

// buffers holds space for encoded outcomes.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Put stores an outcome, and returns the outcome's own sequence. Its value has a bound of
// its own, see run.Limits.
func (o *Outcomes) Put(ctx context.Context, sequence uint64, traceID string, outcome sluice.Outcome) (uint64, error) {
	buffer := buffers.Get().(*[]byte)
	if outcome.Error != nil {
		cut := stream.CutProblem(*outcome.Error)
		outcome.Error = &cut
	}
	if outcome.Said != nil {
		said := *outcome.Said
		said.Message = stream.CutText(said.Message)
		outcome.Said = &said
	}
	data := value.AppendRecord((*buffer)[:0], &outcome)
	subject := o.subject(sequence, traceID, outcome.Pipeline)
	o.Shares.Take(ctx, outcome.Pipeline, len(data))
	stored, err := o.stream.Write(ctx, subject, nil, data)
	if err != nil {
		return 0, err
	}
	*buffer = data
	buffers.Put(buffer)
	return stored, nil
}

// errUnsynced is the error of an outcome that is not on stable storage yet. A power cut could
// take it back, so nobody may see it.
var errUnsynced = errors.New("the outcome is not durable yet")

// Get returns an outcome, nil if there is none or it has expired, and errUnsynced while it is
// not durable.
func (o *Outcomes) Get(ctx context.Context, sequence uint64, traceID, pipeline string) (*sluice.Outcome, error) {
	outcome, stored, err := o.find(ctx, sequence, traceID, pipeline)
	if err == nil && stored > o.stream.Durable() {
		return nil, errUnsynced
	}
	return outcome, err
}

// find returns an outcome and its own sequence, durable or not.
func (o *Outcomes) find(
	ctx context.Context, sequence uint64, traceID, pipeline string,
) (outcome *sluice.Outcome, stored uint64, err error) {
	return o.of(ctx, o.subject(sequence, traceID, pipeline))
}

// of is find, by the subject.
func (o *Outcomes) of(ctx context.Context, subject string) (outcome *sluice.Outcome, stored uint64, err error) {
	msg, err := stream.Found(o.stream.GetLastMsgForSubject(ctx, subject))
	if msg == nil || err != nil || time.Since(msg.Time) > o.keep.Age {
		return nil, 0, err
	}
	outcome = &sluice.Outcome{Stored: msg.Sequence}
	return outcome, msg.Sequence, json.Unmarshal(msg.Data, outcome)
}

// At returns the outcome with a sequence of its own, that of its event, and when it was stored;
// nil if there is none.
func (o *Outcomes) At(
	ctx context.Context, sequence uint64,
) (outcome *sluice.Outcome, event uint64, at time.Time, err error) {
	msg, err := stream.Found(o.stream.GetMsg(ctx, sequence))
	if msg == nil || err != nil {
		return nil, 0, at, err
	}
	key, _, _ := strings.Cut(strings.TrimPrefix(msg.Subject, stream.OutcomePrefix), ".")
	outcome = new(sluice.Outcome)
	return outcome, sequenceOf(key), msg.Time, json.Unmarshal(msg.Data, outcome)
}

// Info asks the engine about the stream of outcomes.
func (o *Outcomes) Info(ctx context.Context) (*jetstream.StreamInfo, error) {
	return o.stream.Info(ctx)
}

// saidAfter is when the log says how long outcomes are kept.
const saidAfter = 10 * time.Second

// promise says how long outcomes are kept, and up to which rate.
func (o *Outcomes) promise() string {
	k := o.keep
	text, seconds := fmt.Sprintf("Results of pipelines are kept for %v", k.Age), int64(k.Age.Seconds())
	if seconds > 0 && k.MaxCount > 0 {
		text += fmt.Sprintf(", up to %d a second (--result-max-count)", k.MaxCount/seconds)
	}
	if seconds > 0 && k.MaxBytes > 0 {
		text += fmt.Sprintf(", up to %d bytes a second (--result-max-bytes)", k.MaxBytes/seconds)
	}
	return text + "."
}
