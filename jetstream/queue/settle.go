package queue

import (
	"context"
	"strings"
	"time"

	"sluice"
	"sluice/problem"
	"sluice/value"
)

// settle stores the outcome of an event, and removes the event from the waiting room.
func (c *consumption) settle(d *delivery, a attempt) error {
	if err := c.queue.store(d, a, d.data); err != nil {
		return err
	}
	if a.outcome.Status == sluice.StatusOK {
		c.queue.waiting.targetBack(c.binding)
	}
	if d.state != nil || d.Count > 1 { // an earlier process may have put it there
		c.queue.waiting.drop(context.Background(), c.binding, d.key)
	}
	return nil
}

// store stores an outcome, and a dead letter with the event if it is a failure. They
// are on stable storage before the event is acknowledged: otherwise a power cut could
// keep the acknowledgement and lose the outcome.
func (q *Queue) store(d *delivery, a attempt, letter []byte) error {
	// Not the run's context: outcomes are stored even while the server stops.
	// Writers have time-outs of their own.
	ctx := context.Background()
	failed := a.outcome.Status == sluice.StatusError
	if a.before {
		if !failed {
			return nil
		}
		return q.deadLetters.AddMissing(ctx, d.Delivery, letter, a.outcome)
	}
	// The outcome comes first. Without it the event is run again, and a letter
	// would remain even if that run succeeds. Callers hear of a failure when its
	// letter is stored, too, so that they find it.
	if failed {
		subject := q.outcomes.subject(d.sequence, d.TraceID, a.outcome.Pipeline)
		q.unlettered.Store(subject, true)
		defer q.unlettered.Delete(subject)
	}
	sequence, err := q.outcomes.Put(ctx, d.sequence, d.TraceID, a.outcome)
	if err != nil {
		return err
	}
	if failed {
		if err := q.deadLetters.Add(ctx, d.Delivery, letter, a.outcome); err != nil {
			return err
		}
	}
	if err := q.outcomes.notices.tell(d.sequence, d.TraceID, a.outcome, d.Waits); err != nil {
		return err
	}
	first, _ := d.Message["firstId"].(string)
	q.settled(d.sequence, d.TraceID, first, a.outcome)
	q.reportEnd(ctx, d, sequence, a.outcome)
	return nil
}

// maxUnreadable bounds how much of an unreadable event its dead letter has.
const maxUnreadable = 64 << 10

// refuse makes a dead letter of an event that can never be read.
func (c *consumption) refuse(d *delivery, cause error) {
	c.queue.host.Log.Error("A stored event can't be read; it becomes a dead letter.", "pipeline", c.pipeline,
		"error", cause)
	view := problem.Of(sluice.Errorf(sluice.CodeEventUnreadable,
		"The event is no JSON object within the limits; a program that publishes to the engine has sent it.").
		InCall(d.TraceID))
	a := attempt{outcome: sluice.Outcome{
		Pipeline: c.pipeline, Status: sluice.StatusError, StatusCode: view.StatusCode, Error: view, Attempts: 1,
		Finished: time.Now().UTC(),
	}}
	head := d.data[:min(len(d.data), maxUnreadable)]
	text, err := value.Marshal(strings.ToValidUTF8(string(head), "\uFFFD"))
	if err == nil {
		err = c.queue.store(d, a, text)
	}
	if err != nil {
		d.from.giveBack(d, consumeRetry)
		return
	}
	c.queue.unreadable.Add(1)
	d.from.refuse(d)
}
