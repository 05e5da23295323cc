package journal

import (
	"context"
	"encoding/json"
	"slices"

	"sluice"
)

// recovery says that a replay of an event went well in a pipeline that may have failed
// on the event.
type recovery struct {
	CorrelationID string `json:"correlationId"` // of the event
	Pipeline      string `json:"pipeline"`
	TraceID       string `json:"traceId"` // of the replay
}

// TellRecovered tells at once of the calls that have recovered, so that figures agree with
// what a search finds.
func (j *Journal) TellRecovered(ctx context.Context) {
	j.flushSoon(ctx)
	j.tellRecovered(ctx)
}

// tellRecovered tells of the calls that have recovered by the replays written last. Nothing is
// written meanwhile, so no call is told of twice.
func (j *Journal) tellRecovered(ctx context.Context) {
	select {
	case <-j.writing:
		defer func() { j.writing <- struct{}{} }()
	case <-ctx.Done():
		return
	}
	j.mu.Lock()
	untold := j.untold
	j.untold = nil
	j.mu.Unlock()
	for i, r := range untold {
		if end, ok := j.recovered(ctx, r.CorrelationID, untold[i:]); ok {
			j.about.Recovered(end)
		}
	}
}

// recovered returns the end of a call that has recovered by the first of some replays. It
// returns false if pipelines still fail on the call, or if it had recovered before.
func (j *Journal) recovered(
	ctx context.Context, correlationID string, replays []recovery,
) (end sluice.CallEnd, ok bool) {
	sequence := j.sequenceOf(correlationID)
	w := &eventWalk{search: j.newSearch(sluice.TraceQuery{})}
	if sequence == 0 || w.loadChunk(ctx, sequence) != nil {
		return end, false
	}
	lines := w.chunk.about(sequence)
	i := slices.IndexFunc(lines, func(l line) bool { return l.kind == lineCall })
	if i < 0 {
		return end, false // it was sent, not received
	}
	call, _, ok := lines[i].call()
	if !ok || call.CorrelationID != correlationID {
		return end, false
	}
	without := func(replays []recovery) []line {
		return slices.DeleteFunc(slices.Clone(lines), func(l line) bool {
			var r recovery
			return l.kind == lineRecovery && json.Unmarshal(l.data, &r) == nil && slices.Contains(replays, r)
		})
	}
	before, after := settled(without(replays), correlationID, call.TraceID), settled(without(replays[1:]),
		correlationID, call.TraceID)
	failed := func(settled map[string]sluice.Status) bool {
		return slices.ContainsFunc(call.Listeners, func(name string) bool {
			return settled[name] != sluice.StatusOK && settled[name] != sluice.StatusRecovered
		})
	}
	return sluice.CallEnd{
		EventKey: call.EventKey, TraceID: call.TraceID, Status: sluice.StatusRecovered,
	}, failed(before) && !failed(after)
}
