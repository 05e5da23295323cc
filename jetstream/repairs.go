package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"time"

	"sluice"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// How far hearRepairs looks back: beyond what a crash can take from the journal and from the
// dead letters that are dropped soon.
const (
	repairAge  = 15 * time.Second
	maxRepairs = 5000
)

// repairs are the calls that replays have repaired shortly before the last process ended.
type repairs struct {
	heard chan struct{} // closed when all of them are
	calls []time.Time   // when they came
}

// Repaired waits until the journal has heard again what a crash may have taken of replays, and returns when the calls
// came that they have repaired.
func (e *Engine) Repaired(ctx context.Context) []time.Time {
	select {
	case <-e.repairs.heard:
		return e.repairs.calls
	case <-ctx.Done():
		return nil
	}
}

// hearRepairs tells again of the replays that went well before the last process ended. Their
// outcomes are durable; that their calls have recovered, and their dead letters can go, may not
// have been written down before a crash.
func (e *Engine) hearRepairs(ctx context.Context) error {
	defer close(e.repairs.heard)
	info, err := e.Queue.Outcomes.Info(ctx)
	if err != nil {
		return err
	}
	newest := info.State
	first := max(newest.FirstSeq, newest.LastSeq-min(newest.LastSeq, maxRepairs), 1)
	for sequence := newest.LastSeq; sequence >= first; sequence-- {
		o, event, at, err := e.Queue.Outcomes.At(ctx, sequence)
		switch {
		case err != nil:
			return err
		case o == nil:
			continue
		case newest.LastTime.Sub(at) > repairAge:
			return nil
		}
		if err := e.hearRepair(ctx, *o, event); err != nil {
			return err
		}
	}
	return nil
}

// hearRepair tells again that a replay went well, if the event is one.
func (e *Engine) hearRepair(ctx context.Context, o sluice.Outcome, event uint64) error {
	if o.Status != sluice.StatusOK {
		return nil
	}
	msg, err := stream.Found(e.Stored.stream.GetMsg(ctx, event))
	if msg == nil || err != nil {
		return err
	}
	var replay struct {
		TraceID, FirstID string
		ReceivedAt       time.Time
		Origin           sluice.Origin
	}
	isReplay := bytes.Contains(msg.Data, []byte(`"firstId":"`)) && json.Unmarshal(msg.Data, &replay) == nil
	if !isReplay || replay.FirstID == "" {
		return nil
	}
	e.settled(queue.Settled{
		Sequence: event, TraceID: replay.TraceID, First: replay.FirstID, Replay: true, Outcome: o,
		Origin: cmp.Or(replay.Origin.CorrelationID, replay.FirstID),
	})
	if at, ok := sluice.TraceTime(replay.Origin.TraceID); ok { // a call led to what was repeated
		replay.ReceivedAt = at
	}
	e.repairs.calls = append(e.repairs.calls, replay.ReceivedAt)
	return nil
}
