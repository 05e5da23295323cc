package delivery

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

// MaxIDs bounds the ids that are remembered. Beyond it, those are forgotten that are the oldest of
// whoever has most.
const MaxIDs = 10_000_000

// bytesPerID is how much memory an id takes at most.
const bytesPerID = 50

// keeps are how long entries are kept: the shortest one that covers a webhook's window
// counts.
var keeps = [...]time.Duration{time.Hour, 24 * time.Hour, stream.DeliveryAge}

// kindOf returns which history is for a window.
func kindOf(window time.Duration) int {
	for i, keep := range keeps {
		if window <= keep {
			return i
		}
	}
	return len(keeps) - 1
}

// An Index has the deliveries that were accepted, and those that are being accepted, in
// memory.
type Index struct {
	shards  [64]shard
	count   atomic.Int64
	max     int64
	owned   [1 << 16]atomic.Int32 // how many ids each owner has
	level   atomic.Int64          // how many each may have while there are too many; see stream.Level
	since   atomic.Int64          // how many have come since the level was found
	dropped atomic.Int64
}

// A shard is a part of the index with a lock of its own.
type shard struct {
	mu        sync.Mutex
	histories [len(keeps)]history
	flights   map[[12]byte]chan struct{} // deliveries being accepted; closed when that is over, nil if nobody waits
	doubts    map[[12]byte]uint64        // deliveries that may be stored, by the event they would come after
}

// NewIndex returns an empty index that takes at most so many bytes of memory. With 0, only
// MaxIDs bounds it.
func NewIndex(memory int64) *Index {
	x := &Index{max: MaxIDs}
	if memory > 0 {
		x.max = min(x.max, memory/bytesPerID)
	}
	for i := range x.shards {
		s := &x.shards[i]
		s.flights, s.doubts = make(map[[12]byte]chan struct{}), make(map[[12]byte]uint64)
		for kind, keep := range keeps {
			s.histories[kind].keep = keep
		}
	}
	return x
}

// Count returns how many ids are remembered.
func (x *Index) Count() int64 { return x.count.Load() }

// Dropped returns how many ids were forgotten before their time, since the start.
func (x *Index) Dropped() int64 { return x.dropped.Load() }

// shard returns the part of the index for a key. It uses a byte that slotOf does not.
func (x *Index) shard(key *[12]byte) *shard { return &x.shards[key[4]%byte(len(x.shards))] }

// Begin returns the first call of a delivery, if one was accepted within the window.
// Otherwise the caller accepts the delivery and then calls End or Fail: until then others
// with the same id wait. If an earlier attempt may have been stored, doubt is the event
// that it would come after.
func (x *Index) Begin(
	ctx context.Context, f *sluice.Fingerprint, owner string, now time.Time,
) (first *Accepted, doubt *uint64, err error) {
	s := x.shard(&f.Key)
	for {
		s.mu.Lock()
		if e := s.find(f, now); e != nil {
			accepted := e.accepted(owner)
			s.mu.Unlock()
			return &accepted, nil, nil
		}
		flight, begun := s.flights[f.Key]
		if !begun {
			s.flights[f.Key] = nil
			if behind, doubtful := s.doubts[f.Key]; doubtful {
				doubt = &behind
			}
			s.mu.Unlock()
			return nil, doubt, nil
		}
		if flight == nil {
			flight = make(chan struct{})
			s.flights[f.Key] = flight
		}
		s.mu.Unlock()
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, nil,
				sluice.CodeDeliveryPending.Errorf("The first call of this delivery is not stored yet.").
					Because(ctx.Err())
		}
	}
}

// Find returns the first call of a delivery, nil if none was accepted within the window.
func (x *Index) Find(_ context.Context, f *sluice.Fingerprint, owner string) (*Accepted, error) {
	s := x.shard(&f.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(f, time.Now())
	if e == nil {
		return nil, nil
	}
	accepted := e.accepted(owner)
	return &accepted, nil
}

// find returns the newest entry of a delivery within its window, nil if there is none.
func (s *shard) find(f *sluice.Fingerprint, now time.Time) (newest *entry) {
	for i := range s.histories {
		e := s.histories[i].get(&f.Key)
		if e != nil && now.Sub(e.at()) < f.Window && (newest == nil || e.millis() > newest.millis()) {
			newest = e
		}
	}
	return newest
}

// End notes that a delivery is stored as an event.
func (x *Index) End(f *sluice.Fingerprint, sequence uint64, traceID string, received time.Time) {
	s := x.shard(&f.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	x.expire(s, time.Now(), few)
	x.add(s, kindOf(f.Window), entryOf(f, sequence, traceID, received))
	s.land(f)
}

// Fail notes that a delivery is not known to be stored. If it may be, it comes after the
// event behind.
func (x *Index) Fail(f *sluice.Fingerprint, mayBe bool, behind uint64) {
	const maxDoubts = 10_000
	s := x.shard(&f.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.land(f)
	if mayBe && len(s.doubts) < maxDoubts {
		s.doubts[f.Key] = behind
	}
}

// land ends the flight of a delivery.
func (s *shard) land(f *sluice.Fingerprint) {
	delete(s.doubts, f.Key)
	if flight := s.flights[f.Key]; flight != nil {
		close(flight)
	}
	delete(s.flights, f.Key)
}

// learn adds an entry from the records.
func (x *Index) learn(kind int, e entry, now time.Time) {
	if kind >= len(keeps) || now.Sub(e.at()) > keeps[kind] {
		return
	}
	s := x.shard(e.key())
	s.mu.Lock()
	defer s.mu.Unlock()
	x.add(s, kind, e)
}

// few is how many old entries of a history go whenever a new one comes.
const few = 4

func (x *Index) add(s *shard, kind int, e entry) {
	if x.count.Load() >= x.max {
		x.makeRoom(s)
	}
	s.histories[kind].put(e)
	x.tally(&e, 1)
}

func (x *Index) tally(e *entry, change int) {
	x.count.Add(int64(change))
	x.owned[e.owner()].Add(int32(change))
}

// makeRoom drops the oldest entry of an owner that has more than its share, as far as it finds one
// soon: entries of others that it meets begin anew. What it owes, the next calls find.
func (x *Index) makeRoom(s *shard) {
	const tries = 32
	if x.since.Add(1)%(x.max/64+1) == 0 || x.level.Load() == 0 {
		x.level.Store(stream.Level(x.shares(), x.max-x.max/16))
	}
	for i := range tries {
		h := &s.histories[i%len(s.histories)]
		if h.len() == 0 {
			continue
		}
		e := *h.at(h.first)
		known := h.drop()
		x.tally(&e, -1)
		switch {
		case !known: // replaced by a newer one
		case int64(x.owned[e.owner()].Load()) < x.level.Load() && x.count.Load() < x.max+x.max/8:
			h.put(e)
			x.tally(&e, 1)
		default:
			x.dropped.Add(1)
		}
		if x.count.Load() < x.max {
			return
		}
	}
}

// shares returns how many ids each owner has.
func (x *Index) shares() (sizes []int64) {
	for i := range x.owned {
		if has := x.owned[i].Load(); has > 0 {
			sizes = append(sizes, int64(has))
		}
	}
	return sizes
}

// expire removes entries whose time is over, at most so many of each history.
func (x *Index) expire(s *shard, now time.Time, most int) {
	for i := range s.histories {
		s.histories[i].expire(now, most, func(e *entry) { x.tally(e, -1) })
	}
}

// Expire removes the entries whose time is over.
func (x *Index) Expire(now time.Time) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		x.expire(s, now, math.MaxInt)
		s.mu.Unlock()
	}
}
