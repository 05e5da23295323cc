package journal

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
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
		return sluice.Errorf(sluice.CodePositionInvalid, "There is no such position; give the id of an event of the stream, or none to start now.")
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
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for !t.ended {
		busy := false
		for _, f := range t.both {
			some, err := t.catchUp(ctx, f)
			if err != nil || t.ended {
				return err
			}
			busy = busy || some
		}
		if busy {
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// catchUp reports what one stream has by now, and returns whether there was
// anything.
func (t *tail) catchUp(ctx context.Context, f *follower) (some bool, err error) {
	const most = 100
	messages, err := t.host.Fetch(ctx, f.stream.CachedInfo().Config.Name, stream.Range{Sequence: f.next, Count: most})
	if err != nil {
		return false, err
	}
	for _, msg := range messages {
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
					return true, nil
				}
			}
		}
		f.next, f.line = msg.Sequence+1, 0
	}
	return len(messages) > 0, nil
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
		call = sluice.Call{TraceID: run.TraceID, EventKey: run.EventKey, User: run.User, Runs: []sluice.RunReport{run}}
		if q.Cover.HideRuns(&call); !isRun || len(call.Runs) == 0 {
			return entry, false
		}
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
		q.TraceID != "" && q.TraceID != call.TraceID && q.TraceID != sluice.TraceOwner(call.TraceID):
		return entry, false
	}
	var err error
	entry.Data, err = value.Marshal(data)
	return entry, err == nil
}

// An entry is what the index knows of one stored event: enough to rule out most
// events in a search. Hashes may collide, so an event that isn't ruled out is
// compared itself.
type entry struct {
	owner     uint32   // hash of the webhook's part of the trace id
	trace     uint32   // hash of the whole trace id
	key       uint32   // hash of the key
	at        int64    // when it was received, in milliseconds
	pipelines nameBits // that it was handed to
}

// nameBits are a set of names, as a Bloom filter: it may seem to have a name
// that it lacks, but never lacks a name that it has.
type nameBits uint64

func bitsOf(names ...string) (bits nameBits) {
	const each = 4
	for _, name := range names {
		h := hash32(name)
		for range each {
			bits |= 1 << (h % 64)
			h >>= 6
		}
	}
	return bits
}

// has reports whether the set has all of some names.
func (b nameBits) has(some nameBits) bool { return b&some == some }

// Owners that are not hashes.
const (
	entryUnknown = 0 // the event was not looked at yet
	entryAbsent  = 1 // there is no event
)

func entryOf(traceID, key string, received time.Time, pipelines []string) entry {
	return entry{
		owner:     hash32(sluice.TraceOwner(traceID)),
		trace:     hash32(traceID),
		key:       hash32(key),
		at:        received.UnixMilli(),
		pipelines: bitsOf(pipelines...),
	}
}

// hash32 is FNV-1a, except for the two values with another meaning.
func hash32(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return max(h, entryAbsent+1)
}

// indexed is how many events a block of the index covers.
const indexed = 4096

// entries are those of one block.
type entries [indexed]entry

const entrySize = 28

func (e *entries) encode() []byte {
	data := make([]byte, 0, indexed*entrySize)
	for i := range e {
		for _, n := range [...]uint32{e[i].owner, e[i].trace, e[i].key} {
			data = binary.LittleEndian.AppendUint32(data, n)
		}
		data = binary.LittleEndian.AppendUint64(data, uint64(e[i].at))
		data = binary.LittleEndian.AppendUint64(data, uint64(e[i].pipelines))
	}
	return data
}

// learn adds the entries that another view has and this one lacks.
func (e *entries) learn(data []byte) {
	if len(data) != indexed*entrySize {
		return // another version wrote it
	}
	for i := range e {
		if e[i].owner == entryUnknown {
			b := data[i*entrySize:]
			e[i] = entry{
				owner:     binary.LittleEndian.Uint32(b),
				trace:     binary.LittleEndian.Uint32(b[4:]),
				key:       binary.LittleEndian.Uint32(b[8:]),
				at:        int64(binary.LittleEndian.Uint64(b[12:])),
				pipelines: nameBits(binary.LittleEndian.Uint64(b[20:])),
			}
		}
	}
}

// unknown returns which events from first to last have no entry.
func (e *entries) unknown(first, last int) (missing []int) {
	for i := first; i <= last; i++ {
		if e[i].owner == entryUnknown {
			missing = append(missing, i)
		}
	}
	return missing
}
