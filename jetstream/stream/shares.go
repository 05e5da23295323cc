package stream

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Shares keep a stream that all fill within its bounds, at the expense of those who have most of
// it: the engine would drop the oldest messages, whoever they are of. Owners are pipelines; the
// stream itself has room for more.
type Shares struct {
	What   string // for people, in the plural
	Advice string // behind the warning
	Prefix string // of subjects, before the name of the owner
	Bytes  int64
	Count  int64 // of messages; 0: any number

	host    *Host
	stream  jetstream.Stream
	full    chan struct{} // asks for a look
	dropped atomic.Int64
	told    atomic.Pointer[cut]

	mu      sync.Mutex
	written int64            // bytes since the last look
	owned   map[string]share // as counted, and written here since
}

// A share is what an owner has.
type share struct{ count, bytes int64 }

// A cut says of whom something was dropped.
type cut struct {
	owner string
	at    time.Time
	age   time.Duration // of what is left
}

// Bound returns how much of a stream shares may fill. The rest is room until what is too much has been
// dropped: engines reserve the whole of it, so it can't come on top.
func Bound(room int64) int64 { return room - room/5 }

// looks is how often a stream is looked at while as much is written as it may have.
const looks = 32

// overhead is about what the engine stores of a message besides its data.
const overhead = 100

// Keep drops what is too much in a stream, until running ends.
func (s *Shares) Keep(running context.Context, h *Host, of jetstream.Stream) {
	s.host, s.stream, s.full, s.owned = h, of, make(chan struct{}), make(map[string]share)
	h.Start(func() {
		for {
			select {
			case <-running.Done():
				return
			case <-s.full:
			}
			if err := s.trim(running); err != nil && running.Err() == nil && h.Ready() == nil {
				h.Log.Warn("The surplus of "+s.What+" could not be dropped; trying on.", "error", err)
			}
		}
	})
}

// Take is called before an owner's message is written. Writers wait where they would fill the room
// before the surplus is dropped.
func (s *Shares) Take(ctx context.Context, owner string, size int) {
	switch written := s.note(owner, int64(size)); {
	case s.Bytes == 0 || written < s.Bytes/looks:
	case written < 2*s.Bytes/looks:
		select {
		case s.full <- struct{}{}:
		default: // it is being looked at
		}
	default:
		select {
		case s.full <- struct{}{}:
		case <-ctx.Done():
		}
	}
}

// note counts a message, and returns the bytes since the last look.
func (s *Shares) note(owner string, size int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	has := s.owned[owner]
	s.owned[owner] = share{has.count + 1, has.bytes + size + overhead}
	s.written += size + overhead
	if s.Count > 0 {
		s.written += s.Bytes / s.Count
	}
	return s.written
}

// Dropped returns about how many messages this node has dropped before their time, since the start.
func (s *Shares) Dropped() int64 { return s.dropped.Load() }

// Warning says that messages were dropped in the last hour, "" if none were.
func (s *Shares) Warning() string {
	last := s.told.Load()
	if last == nil || time.Since(last.at) > time.Hour {
		return ""
	}
	return fmt.Sprintf("%s of the pipeline %s go after %v, since it has more than its share of them%s",
		s.What, last.owner, last.age.Round(time.Second), s.Advice)
}

// trim drops the oldest messages of whoever has most, if there are too many.
func (s *Shares) trim(ctx context.Context) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.written = 0
	known := int64(0)
	for _, has := range s.owned {
		known += has.count
	}
	s.mu.Unlock()
	messages := int64(info.State.Msgs)
	weight, bound := func(has share) int64 { return has.bytes }, s.Bytes
	if s.Count > 0 && messages > s.Count {
		weight, bound = func(has share) int64 { return has.count }, s.Count
	} else if int64(info.State.Bytes) <= s.Bytes {
		return nil
	}
	// Other nodes write, and what is old goes; to count anew takes seconds.
	if max(known-messages, messages-known) > messages/8 {
		if err := s.recount(ctx); err != nil {
			return err
		}
	}
	return s.level(ctx, weight, bound-bound/8)
}

// level cuts the shares that are too large for all to be within a bound.
func (s *Shares) level(ctx context.Context, weight func(share) int64, bound int64) (err error) {
	s.mu.Lock()
	sizes := make([]int64, 0, len(s.owned))
	for _, has := range s.owned {
		sizes = append(sizes, weight(has))
	}
	level, before := Level(sizes, bound), maps.Clone(s.owned)
	for owner, has := range before {
		if weight(has) > level {
			left := max(1, has.count*level/weight(has))
			s.owned[owner] = share{left, has.bytes * left / has.count}
		}
	}
	after := maps.Clone(s.owned)
	s.mu.Unlock()
	for owner, has := range before {
		if left := after[owner].count; left < has.count {
			err = cmp.Or(err, s.drop(ctx, owner, left, has.count-left))
		}
	}
	return err
}

// drop drops the oldest messages of an owner, of which so many are left.
func (s *Shares) drop(ctx context.Context, owner string, left, count int64) error {
	subject := s.Prefix + owner
	err := s.stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeKeep(uint64(left)))
	if err != nil {
		return err
	}
	oldest, err := First(ctx, s.stream, 1, subject)
	if oldest == nil || err != nil {
		return err
	}
	told := &cut{owner, time.Now(), time.Since(oldest.Time)}
	s.dropped.Add(count)
	s.told.Store(told)
	s.host.Log.Warn("The oldest "+s.What+" of a pipeline were dropped, since it has more than its share of them.",
		"pipeline", owner, "count", count, "age", told.age.Round(time.Second))
	return nil
}

// recount reads what owners have.
func (s *Shares) recount(ctx context.Context) error {
	all, err := s.host.Follow(ctx, s.stream, jetstream.OrderedConsumerConfig{HeadersOnly: true})
	if err != nil {
		return err
	}
	defer all.Stop()
	owned, tokens := make(map[string]share), strings.Count(s.Prefix, ".")+1
	if err := all.Stored(ctx, func(msg jetstream.Msg, _ *jetstream.MsgMetadata) {
		size, _ := strconv.ParseInt(msg.Headers().Get("Nats-Msg-Size"), 10, 64) // the engine's own
		owner := strings.SplitN(msg.Subject(), ".", tokens)[tokens-1]
		has := owned[owner]
		owned[owner] = share{has.count + 1, has.bytes + size + overhead}
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned = owned
	return nil
}

// Level returns the most that each owner may have, so that all together have at most total.
func Level(sizes []int64, total int64) int64 {
	slices.Sort(sizes)
	for i, size := range sizes {
		if even := total / int64(len(sizes)-i); size > even {
			return even
		}
		total -= size
	}
	return math.MaxInt64
}
