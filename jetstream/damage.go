package jetstream

import (
	"context"
	"fmt"
	"sync/atomic"

	"sluice"
)

// endMark is the name of the mark that says how far the stream of events went.
const endMark = "events"

// damage counts what the disk has lost. The engine finds a damaged block, but
// cuts it off without a word.
type damage struct {
	events atomic.Int64
}

// markEnd writes down how far the stream of events goes on stable storage. How
// an external engine loses events is its own affair.
func (s *Events) markEnd(ctx context.Context) error {
	w, ours := s.writer.(*batchWriter)
	if !ours {
		return nil
	}
	if last := w.durable(); last > s.engine.queue.floorOf(endMark) {
		return s.engine.queue.setFloor(ctx, endMark, &floor{last})
	}
	return nil
}

// checkEnd looks whether the stream still goes as far as it once did.
func (s *Events) checkEnd(ctx context.Context) error {
	was := s.engine.queue.floorOf(endMark)
	if s.engine.server == nil || s.inherited >= was {
		return nil
	}
	lost := was - s.inherited
	s.damage.events.Add(int64(lost))
	s.engine.log.Error("The disk has lost events that were stored: their block is damaged. Restore the data folder from a copy if they matter.", "events", lost)
	// The places of lost events are given to others, which are not done.
	return s.engine.queue.lowerFloors(ctx, s.inherited)
}

// missing tells why there is no event at a place: it has expired, or it never
// was, or the disk has lost it. Events are only ever removed from the start.
func (s *Events) missing(ctx context.Context, sequence uint64) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return noAnswer(err)
	}
	if sequence < info.State.FirstSeq || sequence > info.State.LastSeq {
		return gone()
	}
	s.damage.events.Add(1)
	return sluice.Errorf(sluice.Internal, "event-damaged", "The disk has lost this event: its block is damaged.").
		Because(fmt.Errorf("the event %d can't be read", sequence))
}
