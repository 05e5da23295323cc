package jetstream

import (
	"context"
	"fmt"

	"sluice"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// checkEnd checks whether the stream still goes as far as it once did. The
// engine finds a damaged block, but cuts it off silently.
func (s *Events) checkEnd(ctx context.Context) error {
	was := s.floors.End()
	if !s.host.Embedded || s.inherited >= was {
		return nil
	}
	lost := was - s.inherited
	s.lost.Add(int64(lost))
	s.host.Log.Error("The disk has lost events that were stored: their block is damaged. Restore the data folder from a copy if they matter.", "events", lost)
	// The sequences of lost events are used again, for events that are not
	// done.
	return s.floors.Lower(ctx, s.inherited)
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
	s.lost.Add(1)
	return sluice.Errorf(sluice.Internal, "event-damaged", "The disk has lost this event: its block is damaged.").
		Because(fmt.Errorf("the event %d can't be read", sequence))
}
