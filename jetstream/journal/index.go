package journal

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/limit"
)

const (
	// indexKept is how many blocks before the newest one stay in memory, for
	// events that come late.
	indexKept = 8
	// indexViews is how many views of a block are kept.
	indexViews = 16
	// indexRecent is how many complete blocks stay in memory, 128 KiB each.
	indexRecent = 256
	// indexRecentTime is how long they stay.
	indexRecentTime = time.Hour
	// indexSettled is how old an event that was read must be for the index to
	// keep its entry: a younger one may be lost in a power cut, and its sequence
	// used again. Events that this node has accepted are durable.
	indexSettled = 10 * time.Second
)

// index tells which events a search can pass over. It has a block of entries for
// each 4096 events. A node enters the events it accepts, and stores its view of a
// block when the next one has begun; a search joins the views of all nodes. What
// no view has, such as the last events before a crash, is read from the events
// themselves. So the index may be lost at any time.
type index struct {
	host      *stream.Host
	events    jetstream.Stream
	receivers func(correlation.Envelope) []string // pipelines that a foreign event is for

	mu     sync.Mutex
	blocks map[uint64]*indexBlock // that this node has entries for
	newest uint64
	recent *limit.Cache[uint64, *entries] // complete blocks that were read; they don't change
}

type indexBlock struct {
	entries

	changed bool // since it was stored
}

func newIndex(h *stream.Host, receivers func(correlation.Envelope) []string) *index {
	return &index{
		host: h, receivers: receivers, blocks: make(map[uint64]*indexBlock),
		recent: limit.NewCache[uint64, *entries](indexRecent),
	}
}

func (x *index) setUp(ctx context.Context, events jetstream.Stream, maxAge time.Duration) error {
	x.events = events
	_, err := x.host.OpenStream(ctx, x.host.JS, jetstream.StreamConfig{
		Name:              stream.Index,
		Subjects:          []string{stream.IndexPrefix + ">"},
		MaxAge:            maxAge + stream.IndexBeyond, // unfinished events may stay longer: they are read
		MaxBytes:          stream.IndexBytes,
		MaxMsgsPerSubject: indexViews,
		AllowDirect:       true,
	})
	return err
}

// add enters an event that is on stable storage.
func (x *index) add(sequence uint64, e entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.change(sequence / indexed).entries[sequence%indexed] = e
}

// change returns a block of this node that is about to change. The caller holds the
// lock.
func (x *index) change(number uint64) *indexBlock {
	b := x.blocks[number]
	if b == nil {
		b = new(indexBlock)
		x.blocks[number] = b
		x.newest = max(x.newest, number)
	}
	b.changed = true
	return b
}

// unstored returns the blocks to store, all or those before the newest. Each has what earlier views
// of it have: only the latest are kept, and what was erased can't be read again.
func (x *index) unstored(ctx context.Context, all bool) (messages []*nats.Msg, err error) {
	for _, number := range x.changed(all) {
		views, err := x.views(ctx, number)
		if err != nil {
			return messages, err
		}
		messages = append(messages, x.joined(number, views))
	}
	return messages, nil
}

// changed returns which blocks to store.
func (x *index) changed(all bool) (numbers []uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for number, b := range x.blocks {
		if b.changed && (all || number < x.newest) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// joined returns a block to store, with what views of it have, and drops blocks for which no more
// events are expected.
func (x *index) joined(number uint64, views []*jetstream.RawStreamMsg) *nats.Msg {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := x.change(number)
	for _, view := range views {
		b.learn(view.Data)
	}
	b.changed = false
	maps.DeleteFunc(x.blocks, func(number uint64, b *indexBlock) bool {
		return !b.changed && number+indexKept < x.newest
	})
	return &nats.Msg{Subject: indexSubject(number), Data: b.encode()}
}

// views returns what nodes have stored of a block.
func (x *index) views(ctx context.Context, number uint64) ([]*jetstream.RawStreamMsg, error) {
	return x.host.Fetch(ctx, stream.Index, stream.Range{
		Sequence: 1, Subject: indexSubject(number), Count: indexViews,
	})
}

func indexSubject(number uint64) string { return stream.IndexPrefix + strconv.FormatUint(number, 10) }

// block returns the entries of a block from first to last: all of them, or the
// newest if the allowance is spent.
func (x *index) block(ctx context.Context, number uint64, first, last int, allow *allowance) (*entries, error) {
	found, complete := x.inMemory(number)
	if complete || len(found.unknown(first, last)) == 0 {
		return found, nil
	}
	views, err := x.views(ctx, number)
	if err != nil {
		return nil, err
	}
	for _, view := range views {
		found.learn(view.Data)
	}
	missing := found.unknown(first, last)
	if len(missing) == 0 {
		if len(found.unknown(0, indexed-1)) == 0 {
			x.recent.Put(number, found, time.Now().Add(indexRecentTime))
		}
		return found, nil
	}
	young, err := x.read(ctx, number, found, missing, allow)
	if err != nil {
		return nil, err
	}
	if len(missing) > len(young) {
		x.remember(number, *found, young)
	}
	return found, nil
}

// inMemory returns the entries of a block that are in memory, and whether they
// are known to be complete.
func (x *index) inMemory(number uint64) (found *entries, complete bool) {
	if all, ok := x.recent.Get(number, time.Now()); ok {
		return all, true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	found = new(entries)
	if b := x.blocks[number]; b != nil {
		*found = b.entries
	}
	return found, false
}

// remember keeps a block that was completed by reading, except events that are
// too young. A node that only searches learns of new blocks here alone.
func (x *index) remember(number uint64, found entries, young []int) {
	for _, i := range young {
		found[i] = entry{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	b := x.change(number)
	for i, e := range found {
		if b.entries[i].owner == entryUnknown {
			b.entries[i] = e
		}
	}
}

// read makes the missing entries from the events themselves, and returns which of
// these events are young.
func (x *index) read(
	ctx context.Context, number uint64, found *entries, missing []int, allow *allowance,
) (young []int, err error) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(readers)
	// Newest first, as a search goes: what exceeds the allowance is older.
	for _, i := range slices.Backward(missing) {
		if allow.bytes.Load() <= 0 {
			break
		}
		group.Go(func() error {
			e, settled, err := x.readOne(ctx, number*indexed+uint64(i), allow)
			found[i] = e
			if !settled {
				mu.Lock()
				defer mu.Unlock()
				young = append(young, i)
			}
			return err
		})
	}
	err = group.Wait()
	return young, err
}

// readOne makes the entry of an event, and reports whether the event is old
// enough to keep it.
func (x *index) readOne(ctx context.Context, sequence uint64, allow *allowance) (_ entry, settled bool, err error) {
	msg, err := stream.Found(x.events.GetMsg(ctx, sequence))
	if err != nil {
		return entry{}, false, err
	}
	if msg == nil {
		return entry{owner: entryAbsent}, true, nil
	}
	allow.read(len(msg.Data))
	e, err := correlation.ReadEnvelope(msg)
	if err != nil {
		return entry{owner: entryAbsent}, true, nil //nolint:nilerr // it is no event
	}
	if e.Foreign {
		e.Listeners = x.receivers(e)
	}
	return entryOf(e.TraceID, e.EventKey+e.Key, e.Received, e.Listeners), time.Since(msg.Time) > indexSettled, nil
}
