// Package journal is where calls are searched: it records how calls and runs
// went, and finds them again.
//
// Read downward. Writing: the journal hears of calls in one place (hear.go) and keeps
// entries in memory; messages.go turns these into messages of lines (lines.go), and
// write.go stores them in the background, so that no call waits. entries.go and index.go
// keep a few bytes for each event, by which a search passes over most of them.
// Searching: query.go says what a query demands. search.go (Journal.Calls) merges two walks,
// one through the stored events (walk_events.go; chunk.go and tree.go for what is known of them,
// status.go for searches by status, payload.go for texts) and one through what belongs to no event
// (walk_loose.go). tail.go follows what is written as it happens, former.go reads what earlier processes wrote, and
// hide.go takes back what runs said.
//
// The events themselves are in package jetstream, which also knows the outcome of what
// is not settled yet. If the journal is lost, only how calls went is lost
// (docs/decisions/0010).
package journal

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/limit"
	"sluice/stretch"
)

const (
	// writeEvery is how often entries are written.
	writeEvery = 200 * time.Millisecond
	// maxPending bounds the lines that wait to be written.
	maxPending = 1 << 17
	// maxRefused is how many rejected calls are recorded one by one each second: a
	// flood must not fill the disk.
	maxRefused = 1000
)

// Journal implements sluice.Journal and sluice.Tail. Accepted calls are in the
// stream of events; the journal adds how calls and runs went, and the calls that
// were refused. It is written in the background, several entries at a time:
//
//   - JOURNAL has a chunk for each 64 events: all messages of one subject, with
//     what is known of those events. For each block of the index it also has a
//     list of the events that pipelines failed on.
//   - LOOSE has what belongs to no event: rejected calls, and runs that a user
//     has started. Its subjects are few, whichever tokens callers make up.
//   - INDEX says which events a search can skip.
type Journal struct {
	host  *stream.Host
	about Events
	ids   correlation.IDs
	index *index

	memory   *limit.Memory // for events that searches look into
	textTime time.Duration // of a search for a text

	events jetstream.Stream
	chunks jetstream.Stream
	loose  jetstream.Stream
	former map[string]uint64 // the last sequences that earlier processes have written, by stream

	mu         sync.Mutex
	pending    pending
	refusals   *rate.Limiter
	unrecorded int      // rejected calls beyond that rate
	ends       []ending // that wait to be written, or for what is unsent
	untold     []ending // written, and nobody was told of them

	wake    chan struct{}       // holds one token while there is something to write
	writing *semaphore.Weighted // one: the right to write
	telling *semaphore.Weighted // one: the right to tell of ends
	hiding  *semaphore.Weighted // one: the right to replace what was written
	unsent  []*nats.Msg         // that the engine refused
	written map[string]func()   // has what was written synced, by the prefix of subjects
	dropped atomic.Int64        // entries that were dropped
}

// pending is what waits to be written.
type pending struct {
	lines    []func(*lineWriter)
	repeated map[string]repeated // by trace id and quarantine
}

// Events is what the journal needs to know about events.
type Events struct {
	MaxAge    time.Duration // how long they are kept
	ResultAge time.Duration // how long what pipelines made of them is kept

	// Outcome returns what a pipeline has made of an event: nil if it is not
	// done yet, Gone if the outcome has expired.
	Outcome func(ctx context.Context, e correlation.Envelope, pipeline string) (*sluice.Outcome, error)

	// Retries reports whether an event waits for another attempt of a pipeline, or
	// is in it, and when that is due; zero while it runs.
	Retries func(ctx context.Context, e correlation.Envelope, pipeline string) (retries bool, next time.Time, err error)

	// Waits reports whether an event waits for another attempt of some pipeline.
	Waits func(sequence uint64) bool

	// Erased reports whether a call was erased, and Erasing whether that was asked for.
	Erased, Erasing func(traceID string) bool

	// Forgotten reports whether an event was removed on purpose. Its call is still found.
	Forgotten func(sequence uint64) bool

	// Ended is called when all that a call has set off is done, and when what failed of it
	// was replayed well.
	Ended func(sluice.CallEnd)

	// Bound returns the pipelines that listen, by the ids of their bindings.
	Bound func() map[string]*sluice.Pipeline

	// Receivers returns the names of the pipelines that get an event which does
	// not name its listeners.
	Receivers func(e correlation.Envelope) []string
}

// New returns a journal. SetUp comes next.
func New(h *stream.Host, about Events) *Journal {
	return &Journal{
		host:     h,
		about:    about,
		index:    newIndex(h, about.Receivers),
		memory:   limit.NewMemory(math.MaxInt64, nil),
		textTime: stretch.Of(textTime),
		refusals: rate.NewLimiter(maxRefused, maxRefused),
		wake:     make(chan struct{}, 1),
		writing:  semaphore.NewWeighted(1),
		telling:  semaphore.NewWeighted(1),
		hiding:   semaphore.NewWeighted(1),
		written:  make(map[string]func()),
		former:   make(map[string]uint64),
	}
}

// BoundSearches sets the memory that all searches share for events that they look
// into. It is called before the first search.
func (j *Journal) BoundSearches(memory *limit.Memory) { j.memory = memory }

// SetUp creates the streams where they are missing, beside the stream of events. What is
// written to them is synced until running ends.
func (j *Journal) SetUp(ctx, running context.Context, ids correlation.IDs, events jetstream.StreamConfig) (err error) {
	j.ids = ids
	if j.events, err = j.host.Stream(ctx, j.host.SideJS, events.Name); err != nil {
		return err
	}
	if err := j.index.setUp(ctx, j.events, j.about.MaxAge); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	open := func(name, prefix string, maxBytes int64) (jetstream.Stream, error) {
		j.written[prefix] = j.host.SyncLater(running, j.host.Blocks(name, false), "the journal")
		opened, err := j.host.OpenStream(ctx, j.host.SideJS, jetstream.StreamConfig{
			Name:        name,
			Subjects:    []string{prefix + ">"},
			MaxAge:      max(j.about.MaxAge, 100*time.Millisecond), // the engine's minimum
			MaxBytes:    maxBytes,
			AllowDirect: true,
		})
		if err == nil {
			j.former[name] = opened.CachedInfo().State.LastSeq
		}
		return opened, err
	}
	if j.chunks, err = open(stream.Journal, stream.ChunkPrefix, journalBytes(events.MaxBytes)); err != nil {
		return err
	}
	j.loose, err = open(stream.Loose, stream.LoosePrefix, stream.LooseBytes)
	return err
}

// journalBytes is how large the journal may become: an eighth of what events
// may take.
func journalBytes(events int64) int64 {
	const least, most = 64 << 20, 8 << 30
	if events <= 0 {
		return most
	}
	return min(max(events/8, least), most)
}

// Dropped returns how many entries were dropped since the start.
func (j *Journal) Dropped() int64 { return j.dropped.Load() }
