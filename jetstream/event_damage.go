package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// A gap is places of the stream of events where none are, though there were some.
type gap struct{ first, last uint64 }

func (g gap) events() int64 { return int64(g.last - g.first + 1) }

// checkWhole looks whether the stream of the embedded engine has all that it once
// had. Events are only ever removed from its start; what the engine can't read it
// leaves out without a word.
func (s *Events) checkWhole(ctx context.Context, was marks, tell func(string)) error {
	if !s.host.Embedded {
		return nil
	}
	info, err := s.stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return err
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	if was.First > 0 && first > was.First {
		s.gaps = append(s.gaps, gap{was.First, min(first-1, was.Last)})
	}
	for _, missing := range info.State.Deleted {
		if missing == 0 {
			continue // so it says that the stream is empty
		}
		if n := len(s.gaps); n > 0 && s.gaps[n-1].last+1 == missing {
			s.gaps[n-1].last = missing
		} else {
			s.gaps = append(s.gaps, gap{missing, missing})
		}
	}
	if was.Last > last && was.Last >= was.First {
		s.gaps = append(s.gaps, gap{max(last+1, was.First), was.Last})
	}
	for _, g := range s.gaps {
		if g.last < g.first {
			continue
		}
		s.lost.Add(g.events())
		s.host.Log.Error("The disk has lost events that were stored. Restore the data folder from a backup if they matter.", "events", g.events(), "first", g.first, "last", g.last)
		tell(fmt.Sprintf("the disk has lost %d events that were stored, %d to %d of the stream", g.events(), g.first, g.last))
	}
	if was.Last > last {
		// The places of lost events are given to others, which are not done.
		return s.floors.Lower(ctx, last)
	}
	return nil
}

// missing returns why there is no event with a sequence: it has expired, it
// never existed, or the disk has lost it. Events are only ever removed from the
// start.
func (s *Events) missing(ctx context.Context, sequence uint64) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return stream.NoAnswer(err)
	}
	if sequence < info.State.FirstSeq || sequence > info.State.LastSeq {
		return queue.Gone()
	}
	if _, known := s.found.LoadOrStore(sequence, nil); !known && !s.inGap(sequence) {
		s.lost.Add(1)
		s.host.Log.Error("The disk has lost an event that was stored: it can't be read.", "event", sequence)
	}
	return sluice.Errorf(sluice.CodeEventDamaged, "The disk has lost this event: its block is damaged.").
		Because(fmt.Errorf("the event %d can't be read", sequence))
}

func (s *Events) inGap(sequence uint64) bool {
	for _, g := range s.gaps {
		if g.first <= sequence && sequence <= g.last {
			return true
		}
	}
	return false
}
