package journal

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
	"sluice/wait"
)

// followEvery is how often a tail looks for what is new.
const followEvery = 200 * time.Millisecond

// A follower reads a stream of the journal as it grows.
type follower struct {
	stream jetstream.Stream
	next   uint64 // message to read next
	line   int    // lines of it that were handed out
	begun  uint64 // first message that came after the tail began
}

// followers are those of a tail: one of the chunks, one of what belongs to no event.
type followers [2]*follower

// position names what comes next.
func (f followers) position() string {
	return fmt.Sprintf("%d.%d-%d.%d", f[0].next, f[0].line, f[1].next, f[1].line)
}

// seek sets followers to a position.
func (f followers) seek(position string) error {
	n, err := fmt.Sscanf(position, "%d.%d-%d.%d", &f[0].next, &f[0].line, &f[1].next, &f[1].line)
	if err != nil || n != 4 || f[0].line < 0 || f[1].line < 0 || f.position() != position {
		return sluice.CodePositionInvalid.Errorf(
			"There is no such position; give the id of an event of the stream, or none to start now.")
	}
	return nil
}

// Follow implements sluice.Tail.
func (j *Journal) Follow(ctx context.Context, q sluice.TailQuery) (iter.Seq2[sluice.TailEntry, error], error) {
	if err := j.host.Connected(); err != nil {
		return nil, err
	}
	both := followers{{stream: j.chunks}, {stream: j.loose}}
	if q.After != "" {
		if err := both.seek(q.After); err != nil {
			return nil, err
		}
	}
	for _, f := range both {
		info, err := f.stream.Info(ctx)
		if err != nil {
			return nil, stream.NoAnswer(err)
		}
		f.begun = info.State.LastSeq + 1
		if q.After == "" || f.next > f.begun {
			f.next, f.line = f.begun, 0
		}
	}
	return func(yield func(sluice.TailEntry, error) bool) {
		t := &tail{Journal: j, q: q, both: both, yield: yield}
		if err := t.run(ctx); err != nil && ctx.Err() == nil {
			yield(sluice.TailEntry{}, err)
		}
	}, nil
}

// A tail reports what happens.
type tail struct {
	*Journal

	q     sluice.TailQuery
	both  followers
	yield func(sluice.TailEntry, error) bool
	ended bool // the reader has stopped
}

// run reports what happens until ctx ends.
func (t *tail) run(ctx context.Context) error {
	for {
		for _, f := range t.both {
			if err := t.catchUp(ctx, f); err != nil || t.ended {
				return err
			}
		}
		if err := wait.For(ctx, followEvery); err != nil {
			return err
		}
	}
}

// catchUp reports what one stream has by now.
func (t *tail) catchUp(ctx context.Context, f *follower) error {
	name := f.stream.CachedInfo().Config.Name
	for msg, err := range t.host.All(ctx, name, stream.Range{Sequence: f.next, Count: 100}) {
		if err != nil {
			return err
		}
		if msg.Sequence != f.next {
			f.next, f.line = msg.Sequence, 0 // earlier messages are gone
		}
		for i, l := range parseLines(msg.Data) {
			if i < f.line {
				continue
			}
			f.line = i + 1
			if entry, ok := tailEntry(t.q, l); ok {
				entry.Position, entry.Past = t.both.position(), msg.Sequence < f.begun
				if t.ended = !t.yield(entry, nil); t.ended {
					return nil
				}
			}
		}
		f.next, f.line = msg.Sequence+1, 0
	}
	return nil
}

// tailEntry returns the entry of a line, if it fits the query.
func tailEntry(q sluice.TailQuery, l line) (entry sluice.TailEntry, ok bool) {
	var data any
	call, _, isCall := l.call()
	if isCall {
		if !q.Known.Call(&call) {
			call.CorrelationID, call.DeliveryID = "", ""
		}
		entry.Type, data = "call", found(call)
	} else {
		run, isRun := l.run()
		call = sluice.Call{TraceID: run.TraceID, EventKey: run.EventKey, Type: run.Type, User: run.User}
		call.Runs = []sluice.RunReport{run}
		if q.Cover.HideRuns(&call); !isRun || len(call.Runs) == 0 {
			return entry, false
		}
		run.Sent = nil
		run.HidePayloads() // the reader may not be allowed to see them
		if !q.Known.Call(&call) {
			run.CorrelationID = ""
			run.Error.HideMessage()
		}
		entry.Type, data = "run", run
	}
	switch {
	case !q.Cover.Call(&call),
		q.EventKey != "" && q.EventKey != call.EventKey,
		q.Type != "" && !sluice.TypeMatches(q.Type, call.Type),
		q.TraceID != "" && q.TraceID != call.TraceID && q.TraceID != sluice.TraceOwner(call.TraceID) &&
			q.TraceID != sluice.CallTraceID(call.TraceID):
		return entry, false
	}
	var err error
	entry.Data, err = value.Marshal(data)
	return entry, err == nil
}
