package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/problem"
)

// Retries reports whether an event waits for another attempt of a pipeline, or is in
// it, and when that is due; zero while it runs.
func (q *Queue) Retries(
	ctx context.Context, e correlation.Envelope, pipeline string,
) (retries bool, next time.Time, err error) {
	binding := q.Listeners.Binding(pipeline)
	if binding == nil {
		return false, next, nil
	}
	s, err := q.Waiting.find(ctx, binding.ID, eventKey(q.ids, e.Sequence, e.TraceID))
	if s == nil || !s.retries() || err != nil {
		return false, next, err
	}
	if s.Node == "" && s.Due.After(q.Waiting.now()) {
		next = s.Due
	}
	return true, next, nil
}

// Outcome returns what a pipeline has made of an event: nil if it is not done
// yet, Gone if the outcome has expired.
func (q *Queue) Outcome(ctx context.Context, e correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
	outcome, err := q.Outcomes.Get(ctx, e.Sequence, e.TraceID, pipeline)
	if errors.Is(err, errUnsynced) {
		return nil, nil
	}
	if outcome != nil {
		if _, early := q.unlettered.Load(q.Outcomes.subject(e.Sequence, e.TraceID, pipeline)); early {
			return nil, nil
		}
	}
	if outcome != nil || err != nil {
		return outcome, err
	}
	binding := q.Listeners.Binding(pipeline)
	listens := binding != nil && e.Sequence >= binding.Start && reaches(binding, e.Subject)
	switch {
	case listens:
		finished, err := q.finished(ctx, binding.ID, e.Sequence)
		if err != nil || !finished {
			return nil, err
		}
		// It may be acknowledged and wait for another attempt.
		waits, err := q.Waiting.find(ctx, binding.ID, eventKey(q.ids, e.Sequence, e.TraceID))
		if err != nil || waits != nil {
			return nil, err
		}
	case q.Works(pipeline, e.Sequence):
		return nil, nil
	}
	// It may have finished after the first Get.
	outcome, err = q.Outcomes.Get(ctx, e.Sequence, e.TraceID, pipeline)
	switch {
	case errors.Is(err, errUnsynced):
		return nil, nil
	case outcome != nil || err != nil:
		return outcome, err
	case listens || time.Since(e.Received) > q.Outcomes.keep.Age:
		return nil, Gone()
	}
	return unhandled(pipeline, e), nil
}

// workDone returns with what answer to a lease the run of an event went on, nil if it did not, or the event
// is not done.
func (q *Queue) workDone(ctx context.Context, binding, key, lease string) (*sluice.WorkDone, error) {
	p := q.Listeners.Bound()[binding]
	if p == nil {
		return nil, nil
	}
	outcome, _, err := q.Outcomes.of(ctx, stream.OutcomePrefix+key+"."+p.Name)
	if outcome == nil || err != nil {
		return nil, err
	}
	at := slices.IndexFunc(outcome.Work, func(w sluice.WorkDone) bool { return w.Lease == lease })
	if at < 0 {
		return nil, nil
	}
	return &outcome.Work[at], nil
}

// unhandled is the outcome of an event whose pipeline was deleted, or listens to other
// events, before it ran.
func unhandled(pipeline string, e correlation.Envelope) *sluice.Outcome {
	err := sluice.CodePipelineGone.Errorf("The pipeline %s was deleted or listens to other events by now.",
		pipeline)
	view := problem.Of(err.InCall(e.TraceID))
	said := &sluice.Said{
		Message: "What was to handle the call was removed before it came to that.", StatusCode: view.Status,
		Code: err.Code,
	}
	return &sluice.Outcome{
		Pipeline: pipeline, Status: sluice.StatusError, StatusCode: view.Status, Error: view, Said: said,
		Finished: e.Received,
	}
}

// Gone is the error of a result that is no longer kept, or never was.
func Gone() error {
	return sluice.CodeResultGone.Errorf("There is no result with this correlation id, or it has expired.")
}

// reportEnd reports what became of a call, if the outcome that was just stored is the last one of the
// call's pipelines. It does not decide that where events were sent, whose outcomes count as well, or
// where another pipeline has failed, which may have been replayed meanwhile.
func (q *Queue) reportEnd(ctx context.Context, d *delivery, outcome sluice.Outcome) (s Settled) {
	first, _ := d.Message["firstId"].(string)
	origin, at, isReplay := originOf(d)
	s = Settled{d.sequence, d.TraceID, first, origin.CorrelationID, isReplay, false, outcome}
	if _, wasSent := d.Message["origin"]; wasSent || isReplay || len(outcome.Sent) > 0 {
		s.Decides = true
		return s
	}
	if _, ours := d.Message["namespace"]; !ours {
		return s // another program has published it
	}
	key, _ := d.Message["eventKey"].(string)
	end := sluice.CallEnd{EventKey: key, TraceID: d.TraceID, Status: outcome.Status, Sent: origin.EventKey == ""}
	if end.Status == sluice.StatusPassed {
		end.Status = sluice.StatusOK
	}
	for _, listener := range d.listeners {
		name, _ := listener.(string)
		if name == outcome.Pipeline {
			continue
		}
		other, _, err := q.Outcomes.find(ctx, d.sequence, d.TraceID, name)
		if other == nil && err == nil {
			e := correlation.Envelope{Sequence: d.sequence, Subject: d.Subject, TraceID: d.TraceID, Received: at}
			other, err = q.Outcome(ctx, e, name)
		}
		isGone := err != nil && sluice.AsError(err).Kind == sluice.Gone // it ended long ago
		switch {
		case isGone || err == nil && other != nil && (len(other.Sent) > 0 || other.Status == sluice.StatusError):
			s.Decides = true
			return s
		case err != nil || other == nil || other.Stored > outcome.Stored:
			return s // the other one tells
		}
	}
	q.Ended(end)
	return s
}
