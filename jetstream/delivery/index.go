package delivery

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
)

// MaxIDs bounds the ids that are remembered. Beyond it the oldest are forgotten.
const MaxIDs = 10_000_000

// bytesPerID is what one takes in memory at most.
const bytesPerID = 48

// keeps are how long entries are kept: the shortest that covers the window of a
// webhook.
var keeps = [...]time.Duration{time.Hour, 24 * time.Hour, 168 * time.Hour}

// longest is the longest of them.
const longest = 168 * time.Hour

// kindOf returns which of the shelves is for a window.
func kindOf(window time.Duration) int {
	for i, keep := range keeps {
		if window <= keep {
			return i
		}
	}
	return len(keeps) - 1
}

// An Index knows the deliveries that were accepted, in memory, and those that
// are being accepted.
type Index struct {
	shards [64]shard
	count  atomic.Int64
	max    int64
}

// A shard is a part of the index with a lock of its own.
type shard struct {
	mu      sync.Mutex
	shelves [len(keeps)]shelf
	flights map[[12]byte]chan struct{} // deliveries that are being accepted; closed when that is over, nil if nobody waits
	doubts  map[[12]byte]uint64        // deliveries that may have been stored behind an event, nobody knows
}

// NewIndex returns an index that knows nothing yet. It takes at most so many bytes
// of memory; 0 is no bound but that on the number of ids.
func NewIndex(memory int64) *Index {
	x := &Index{max: MaxIDs}
	if memory > 0 {
		x.max = min(x.max, memory/bytesPerID)
	}
	for i := range x.shards {
		s := &x.shards[i]
		s.flights, s.doubts = make(map[[12]byte]chan struct{}), make(map[[12]byte]uint64)
		for kind, keep := range keeps {
			s.shelves[kind].keep = keep
		}
	}
	return x
}

// Count returns how many ids are remembered.
func (x *Index) Count() int64 { return x.count.Load() }

// slotOf uses the first bytes of the key, this one another.
func (x *Index) shard(key *[12]byte) *shard { return &x.shards[key[4]%byte(len(x.shards))] }

// Begin returns the first call of a delivery, if one was accepted within the
// window. Otherwise the caller accepts it, and must call End or Fail, for which
// others with the same id wait. If it is not known whether an earlier attempt was
// stored, doubt is the event behind which it would be.
func (x *Index) Begin(ctx context.Context, f *sluice.Fingerprint, owner string, now time.Time) (first *Accepted, doubt *uint64, err error) {
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
			return nil, nil, sluice.Errorf(sluice.CodeDeliveryPending, "The first call of this delivery is not stored yet.").Because(ctx.Err())
		}
	}
}

// find returns the newest entry of a delivery within its window, nil if there is
// none.
func (s *shard) find(f *sluice.Fingerprint, now time.Time) (newest *entry) {
	for i := range s.shelves {
		e := s.shelves[i].get(&f.Key)
		if e != nil && now.Sub(e.at()) < f.Window && (newest == nil || e.millis() > newest.millis()) {
			newest = e
		}
	}
	return newest
}

// End says that the delivery that has begun is stored as an event.
func (x *Index) End(f *sluice.Fingerprint, sequence uint64, traceID string) {
	s := x.shard(&f.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := entryOf(f, sequence, traceID); ok {
		x.count.Add(-int64(s.expire(time.Now(), few)))
		x.add(s, kindOf(f.Window), e)
	}
	s.land(f)
}

// Fail says that the delivery that has begun is not known to be stored. If it may
// be, it would be behind an event.
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
	s := x.shard(&e.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	x.add(s, kind, e)
}

// few is how many entries of a shelf are taken off whenever one comes.
const few = 4

// add puts an entry on a shelf.
func (x *Index) add(s *shard, kind int, e entry) {
	if x.count.Load() >= x.max && s.makeRoom() {
		x.count.Add(-1)
	}
	s.shelves[kind].put(e)
	x.count.Add(1)
}

// expire takes off entries whose time is over, at most so many of each shelf, and
// tells how many.
func (s *shard) expire(now time.Time, most int) (gone int) {
	for i := range s.shelves {
		gone += s.shelves[i].expire(now, most)
	}
	return gone
}

// makeRoom drops the oldest entry of the fullest shelf, if there is one.
func (s *shard) makeRoom() bool {
	fullest := &s.shelves[0]
	for i := range s.shelves {
		if s.shelves[i].len() > fullest.len() {
			fullest = &s.shelves[i]
		}
	}
	if fullest.len() == 0 {
		return false
	}
	fullest.drop()
	return true
}

// Expire takes off the entries whose time is over.
func (x *Index) Expire(now time.Time) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		x.count.Add(-int64(s.expire(now, math.MaxInt)))
		s.mu.Unlock()
	}
}
