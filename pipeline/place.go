package pipeline

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"strings"
	"time"

	"sluice"
	"sluice/expression"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/value"
)

// placeOf returns the place of an event among others of its pipeline, as the source says.
func (r *Runner) placeOf(
	ctx context.Context, stored *sluice.Pipeline, p *source.Program, d sluice.Delivery,
) (place sluice.Place, err error) {
	if !placed(p) {
		return place, nil
	}
	scope := &expression.Scope{
		Body: d.Message, Request: run.For(d, d.Attempts+1, new(sluice.Run)).Request, Work: r.work(ctx, stored),
	}
	_, isReplay := d.Message["replayOf"]
	switch {
	case p.Order != nil:
		place.Order, err = numberOf("order", p.Order, scope)
	case isReplay: // who replays an event wants to know what becomes of that one
	default:
		if place.Group, err = numberOf("debounce", p.Debounce.By, scope); place.Group != 0 {
			place.Wait, place.AtMost = p.Debounce.Wait, p.Debounce.AtMost
		}
	}
	return place, err
}

// placed reports whether events may wait for others before they run.
func placed(p *source.Program) bool { return p.Order != nil || p.Debounce != nil }

// superseded reports that another event, with that trace id, runs in place of one, and returns
// the outcome of that one.
func (r *Runner) superseded(p *sluice.Pipeline, d sluice.Delivery, by string) sluice.Outcome {
	r.unrun(p, d, sluice.RunReport{Status: sluice.StatusSuperseded, By: by})
	return r.succeeded(p, d, nil)
}

// unrun tells what became of an event that no step was done for.
func (r *Runner) unrun(p *sluice.Pipeline, d sluice.Delivery, report sluice.RunReport) {
	eventKey, _ := d.Message["eventKey"].(string)
	report.TraceID, report.CorrelationID, report.EventKey = d.TraceID, d.CorrelationID, strings.Clone(eventKey)
	report.Pipeline, report.Attempt, report.Delivery = p.Name, d.Attempts+1, d.Count
	report.Started, report.Steps = time.Now().UTC(), []sluice.StepReport{}
	r.Observe(report)
}

// numberOf returns a number for a value of an event, 0 for null.
func numberOf(section string, of *source.Value, scope *expression.Scope) (uint64, error) {
	v, err := of.Eval(scope)
	if err != nil {
		e := sluice.AsError(err)
		return 0, e.Saying(section + ": " + e.Message)
	}
	if v == nil {
		return 0, nil
	}
	text, err := value.Marshal(v)
	if err != nil {
		return 0, err
	}
	h := fnv.New64a()
	_, _ = h.Write(text) // never fails
	return max(1, h.Sum64()), nil
}

// place returns what tells the queue the place of an event, nil if it has none. After a mistake
// the event runs, and fails.
func (s *service) place(ctx context.Context, p *sluice.Pipeline) func(sluice.Delivery) sluice.Place {
	if !p.Binding.Placed {
		return nil
	}
	return func(d sluice.Delivery) (place sluice.Place) {
		now, _ := s.runner.Store.Get(ctx, p.Name) // if that fails, it is as it was at the start
		now = cmp.Or(now, p)
		program, err := s.runner.program(now)
		if err != nil {
			return place
		}
		_ = s.runner.fed(ctx, p.Name, func(ctx context.Context) error {
			wants, err := s.runner.wants(ctx, now, program, d.Message, math.MaxInt64)
			if wants && err == nil {
				place, _ = s.runner.placeOf(ctx, now, program, d)
			}
			return err
		})
		return place
	}
}
