package rehearse

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/pipeline/run"
	"sluice/value"
)

// A recording is what the journal knows of a pipeline's run on an event.
type recording struct {
	run   sluice.RunReport    // the last attempt; zero if there was none
	steps []sluice.StepReport // the steps that reached outside, also in inner pipelines
	sent  map[int]sending     // what steps have sent as events and messages, as far as that is known
	taken map[int]bool        // steps whose replies were used
}

// A sending is an event or message that a run has sent.
type sending struct {
	args   string         // as shown
	answer map[string]any // what the step gave
}

// recordingOf returns how the pipeline to compare with ran on the event of a call.
func (t *Rehearsal) recordingOf(call *sluice.Call) recording {
	r := recording{taken: map[int]bool{}}
	for _, run := range call.Own() { // in the order of their starts
		switch {
		case run.Delivery == 0:
			continue // another pipeline ran it
		case t.draft.Pipeline != "" && run.Pipeline != t.draft.Pipeline:
			continue
		case r.run.Pipeline != "" && run.Pipeline != r.run.Pipeline:
			return recording{} // several pipelines ran: none to compare with
		}
		r.run = run
	}
	r.add(t.Commands(), r.run)
	for _, inner := range call.Own() {
		if inner.Delivery == 0 && during(inner, r.run) {
			r.add(t.Commands(), inner)
		}
	}
	slices.SortStableFunc(r.steps, func(a, b sluice.StepReport) int { return cmp.Compare(a.Started, b.Started) })
	return r
}

// during reports whether a run started while another one was running.
func during(inner, outer sluice.RunReport) bool {
	return !inner.Started.Before(outer.Started) && !inner.Started.After(outer.Ended())
}

// add adds the steps of a run that reached outside.
func (r *recording) add(set command.Set, run sluice.RunReport) {
	for _, s := range run.Steps {
		s.Started += sluice.Milliseconds(run.Started.Sub(r.run.Started))
		cmd, known := set.Find(s.Command)
		if known && !reachesOutside(cmd) || cmd.Recorded && s.HTTP == nil || s.Code == string(sluice.CodeForbidden) {
			continue // it did nothing outside
		}
		r.steps = append(r.steps, s)
	}
}

// recorded returns the reply that the same request got when the event came, if it was
// sent then. Each reply is used once.
func (t *Rehearsal) recorded(ctx context.Context, sent sluice.Exchange) (sluice.Exchange, error) {
	view := run.SecretsFrom(ctx).Show(&sent, &t.noted)
	t.note(sluice.TryCall{Command: t.calling, HTTP: view})
	for i, s := range t.past.steps {
		if s.HTTP == nil || t.past.taken[i] || s.HTTP.Method != view.Method || s.HTTP.URL != view.URL {
			continue
		}
		t.past.taken[i] = true
		if s.Status == sluice.StatusError && s.Code != string(sluice.CodeHTTPStatus) {
			return sluice.Exchange{}, failedThen(sent.URL, s.Code)
		}
		if s.HTTP.Request == "" || strings.HasSuffix(s.HTTP.Response, run.Cut) ||
			strings.Contains(s.HTTP.Response, run.Redacted) {
			return sluice.Exchange{}, sluice.NotRecorded() // it is cut off, or part of it was a secret
		}
		view.StatusCode, view.Response = s.HTTP.StatusCode, s.HTTP.Response
		return *s.HTTP, nil
	}
	return sluice.Exchange{}, sluice.NotRecorded()
}

// failedThen is the error of a call that failed when the event came.
func failedThen(target, code string) error {
	kind, host := sluice.Unavailable, ""
	if code == "address-refused" {
		kind = sluice.Forbidden
	}
	if u, err := url.Parse(target); err == nil {
		host = u.Hostname()
	}
	return sluice.Code(code).Errorf("The call of %s failed when it was made.", sluice.Quote(host)).OfKind(kind)
}

// An ending is how a run ended and what it did outside.
type ending struct {
	sluice.TryOutcome

	value any
	known bool // whether the value is known
}

// was returns how the recorded run on an event ended, nil if there was none.
func (t *Rehearsal) was(ctx context.Context, call *sluice.Call, event *sluice.Event) (*ending, error) {
	run := t.past.run
	if run.Delivery == 0 {
		return nil, nil
	}
	e := &ending{TryOutcome: sluice.TryOutcome{Status: run.Status}}
	if run.Error != nil {
		e.Code, e.Message = run.Error.Code, run.Error.Detail
	}
	if err := t.findSent(ctx, call.TraceID); err != nil {
		return nil, err
	}
	for i, s := range t.past.steps {
		e.Calls = append(e.Calls, sluice.TryCall{Command: s.Command, HTTP: s.HTTP, Args: t.past.sent[i].args})
	}
	if run.Status != sluice.StatusOK {
		return e, nil
	}
	result, err := t.Results.Result(ctx, call.CorrelationID, 0)
	switch {
	case sluice.Gone.Is(err):
		return e, nil
	case err != nil || result.Status == sluice.StatusProcessing:
		return e, err
	}
	e.Value = valueOf(result.Value, event.Listeners, run.Pipeline)
	e.value, err = value.Decode(e.Value)
	e.known = err == nil && e.Value != nil
	return e, nil
}

// findSent finds what steps of the recorded run have sent.
func (t *Rehearsal) findSent(ctx context.Context, traceID string) error {
	var steps []int
	for i, s := range t.past.steps {
		if isSend(s.Command) && s.Status == sluice.StatusOK && !s.Kept {
			steps = append(steps, i)
		}
	}
	if len(steps) != len(t.past.run.Sent) {
		return nil
	}
	t.past.sent = make(map[int]sending, len(steps))
	for n, i := range steps {
		e, id, err := t.Journal.Sent(ctx, traceID, t.past.run.Sent[n])
		if sluice.Gone.Is(err) { // or it is an earlier one, with the same delivery id
			continue
		}
		if err != nil {
			return err
		}
		key := map[string]any{"eventKey": e.EventKey}
		if t.past.steps[i].Command == "message.send" {
			key = map[string]any{"key": e.MessageKey()}
		}
		answer := maps.Clone(key)
		answer["traceId"], answer["correlationId"] = traceID, id
		if key["payload"], err = value.Decode(e.Payload); err == nil {
			t.past.sent[i] = sending{t.showArgs(ctx, key), answer}
		}
	}
	return nil
}

// sentThen returns what a step that sends gave when the event came, nil if that is not known. Each
// answer is given once.
func (t *Rehearsal) sentThen(command string) map[string]any {
	for i, s := range t.past.steps {
		if s.Command == command && !t.past.taken[i] {
			t.past.taken[i] = true
			return t.past.sent[i].answer
		}
	}
	return nil
}

// isSend reports whether a command sends events or messages.
func isSend(command string) bool { return command == "event.send" || command == "message.send" }

// valueOf returns the value of one of the listeners of an event.
func valueOf(result json.RawMessage, listeners []string, pipeline string) json.RawMessage {
	if len(listeners) == 1 {
		return result
	}
	var values map[string]json.RawMessage
	_ = json.Unmarshal(result, &values) // after an error there is none
	return values[pipeline]
}

// wouldBe returns how the run of the draft ended.
func (t *Rehearsal) wouldBe(out any, err error) *ending {
	e := &ending{TryOutcome: sluice.TryOutcome{Status: sluice.StatusOK, Calls: t.calls}, value: out, known: true}
	if err == nil {
		e.Value, err = run.Encode(out)
	}
	if err != nil {
		failure := sluice.AsError(err)
		e.Status, e.Code, e.Message, e.Value = sluice.StatusError, failure.Code, failure.Message, nil
	}
	return e
}
