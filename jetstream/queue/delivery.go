package queue

import (
	"cmp"
	"context"
	"time"

	"sluice"
)

// An event is an event as it is stored.
type event struct {
	sequence uint64 // in the stream of events
	data     []byte
	origin
}

// An origin says where an event comes from.
type origin struct {
	Subject string    `json:"subject"`
	Time    time.Time `json:"time"`            // when it was stored
	Waits   string    `json:"waits,omitempty"` // the node whose caller waits
}

// A delivery is one handing over of an event to a pipeline.
type delivery struct {
	event
	sluice.Delivery // what the pipeline gets; its Count is known before the event is decoded

	from     source
	waited   bool   // the event comes from the waiting room
	doubtful bool   // an earlier delivery may have run the event
	key      string // of the event in the waiting room
	state    *state // nil: no attempt is known to have failed
}

// A source hands out deliveries. Its methods say what the steps of a delivery mean
// for it.
type source interface {
	// load makes the event ready to be decoded. The delivery has a slot.
	load(ctx context.Context, d *delivery) error
	// wait stores the state of an event, which waits for its next attempt. It
	// returns true if that attempt is due by now. Otherwise the event waits in the
	// waiting room, and this delivery is over.
	wait(ctx context.Context, d *delivery, a attempt) (due bool, err error)
	// ack ends a delivery whose event is done, or waits elsewhere.
	ack()
	// refuse ends a delivery whose event can't be read and became a dead letter.
	refuse(d *delivery)
	// giveBack has the event delivered again after a while.
	giveBack(d *delivery, after time.Duration)
	// end releases what the delivery holds.
	end(d *delivery)
}

// An attempt is one run of the pipeline on a delivery, with its outcome.
type attempt struct {
	outcome sluice.Outcome
	before  bool      // the outcome is that of an earlier delivery, and is stored
	began   time.Time // zero if before
	release func()    // gives back the memory of the outcome; nil: it takes none
}

// failed reports whether another attempt follows.
func (a attempt) failed() bool { return a.outcome.Status == sluice.StatusProcessing }

// after returns the state of the event after an attempt that failed.
func (d *delivery) after(a attempt) state {
	s := state{
		Attempts: a.outcome.Attempts, Count: d.Count, First: cmp.Or(d.First, a.began), Due: a.outcome.Next.UTC(),
		Told: a.began, Recovers: a.outcome.Recovers,
	}
	if a.outcome.Error != nil {
		s.Code = a.outcome.Error.Code
	}
	if eventKey, at, ok := callOf(d.Message, d.TraceID); ok {
		s.EventKey, s.Call = eventKey, at.UTC()
	}
	return s
}
