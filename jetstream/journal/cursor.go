package journal

import (
	"context"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

// parseCursor returns where the walks of a search go on.
func (j *Journal) parseCursor(cursor string) (events, loose uint64, line int, err error) {
	place, ok := j.ids.Place(cursor, 3)
	if !ok {
		return 0, 0, 0, sluice.InvalidParameter("after",
			"The parameter after must be the value of next in the previous answer.")
	}
	return place[0], place[1], int(place[2]), nil
}

// Reached implements sluice.Journal: it returns the time of the event that a search
// looked at last, or of the loose call if no events are left.
func (j *Journal) Reached(ctx context.Context, cursor string) (time.Time, error) {
	events, loose, _, err := j.parseCursor(cursor)
	if err != nil {
		return time.Time{}, err
	}
	msg, err := storedEvent(ctx, j.events, max(1, events))
	if err != nil {
		return time.Time{}, err
	}
	if msg != nil {
		return msg.Time.UTC(), nil
	}
	found, err := j.host.Fetch(ctx, stream.Loose, stream.Range{Sequence: max(1, loose), Count: 1})
	if err != nil {
		return time.Time{}, err
	}
	if len(found) > 0 {
		return found[0].Time.UTC(), nil
	}
	return time.Now().UTC(), nil
}
