package queue

import "context"

// past is what may have been done with events before.
type past struct {
	done   uint64 // all up to this sequence were run
	stored uint64 // those up to this one may have been, and then have an outcome
}

func (c *consumption) past(ctx context.Context) (past, error) {
	info, err := c.queue.events.Info(ctx)
	if err != nil {
		return past{}, err
	}
	before := past{stored: info.State.LastSeq}
	// A floor above all events is about ones that a disk has lost since.
	if floor := c.queue.floors.Of(c.binding); floor <= before.stored {
		before.done = floor
	}
	return before, nil
}
