package jetstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// checkWhole checks whether the embedded engine still has all events. Events are removed
// only from the start of the stream, or are known as forgotten, but the engine silently
// leaves out what it can't read.
func (s *Events) checkWhole(ctx context.Context) error {
	was := s.watermarks
	info, err := s.stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return err
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	for sequence := was.First; was.First > 0 && sequence < first && sequence <= was.Last; sequence++ {
		s.addGap(sequence)
	}
	for _, missing := range info.State.Deleted {
		if missing == 0 {
			continue // the engine reports an empty stream this way
		}
		s.addGap(missing)
	}
	for sequence := max(last+1, was.First); was.Last > last && sequence <= was.Last; sequence++ {
		s.addGap(sequence)
	}
	for _, g := range s.gaps {
		s.lost.Add(g.events())
		s.host.Log.Error("The disk has lost events that were stored. Restore the data folder from a backup if they "+
			"matter.", "events", g.events(), "first", g.first, "last", g.last)
		s.damage.add(fmt.Sprintf("the disk has lost %d events that were stored, %d to %d of the stream", g.events(),
			g.first, g.last))
	}
	if was.Last > last {
		// New events get the sequences of the lost ones, and they are not done.
		return s.Queue.LowWater.Lower(ctx, last)
	}
	return nil
}

// addGap notes that an event is missing, unless it was removed on purpose.
func (s *Events) addGap(missing uint64) {
	if s.forgotten.has(missing) {
		return
	}
	if n := len(s.gaps); n > 0 && s.gaps[n-1].last+1 == missing {
		s.gaps[n-1].last = missing
	} else {
		s.gaps = append(s.gaps, gap{missing, missing})
	}
}

// missing returns why there is no event with a sequence: it has expired, it never existed,
// or the disk has lost it.
func (s *Events) missing(ctx context.Context, sequence uint64) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return stream.NoAnswer(err)
	}
	if sequence < info.State.FirstSeq || sequence > info.State.LastSeq || s.forgotten.has(sequence) {
		return queue.Gone()
	}
	if _, known := s.found.LoadOrStore(sequence, nil); !known && !s.inGap(sequence) {
		s.lost.Add(1)
		s.host.Log.Error("The disk has lost an event that was stored: it can't be read.", "event", sequence)
	}
	return sluice.CodeEventDamaged.Errorf("The disk has lost this event: its block is damaged.").
		Because(fmt.Errorf("the event %d can't be read", sequence))
}

func (s *Events) inGap(sequence uint64) bool {
	return slices.ContainsFunc(s.gaps, func(g gap) bool { return g.first <= sequence && sequence <= g.last })
}

// A gap is a range of sequences whose events are missing.
type gap struct{ first, last uint64 }

func (g gap) events() int64 { return int64(g.last - g.first + 1) }
