package journal

import (
	"context"
	"slices"
	"strings"

	"sluice"
)

// fits reports whether an event with its runs has the code and the text of the
// query.
func (w *eventWalk) fits(ctx context.Context, c *sluice.Call, sequence uint64) (bool, error) {
	switch {
	case !w.hasCode(c):
		return false, nil
	case w.mentions(c):
		return true, nil
	case !w.q.InPayload || !w.q.Known.Call(c):
		return false, nil
	}
	return w.inPayload(ctx, sequence)
}

// hasCode reports whether a call was rejected, or one of its runs failed, with the
// code of the query.
func (s *search) hasCode(c *sluice.Call) bool {
	if s.q.Code == "" || c.Code == s.q.Code {
		return true
	}
	return slices.ContainsFunc(c.Runs,
		func(run sluice.RunReport) bool { return run.Error != nil && run.Error.Code == s.q.Code })
}

// mentions reports whether what is known of a call has the text of the query.
func (s *search) mentions(c *sluice.Call) bool {
	if s.q.OnlyPayload && s.text != "" {
		return false
	}
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), s.text) }
	known := s.q.Known.Call(c)
	if slices.ContainsFunc([]string{
		c.EventKey, c.Key, c.TraceID, c.ReplayOf, c.RemoteAddr, c.Code,
	}, has) || known && (has(c.CorrelationID) || has(c.DeliveryID)) {
		return true
	}
	return slices.ContainsFunc(c.Runs, func(run sluice.RunReport) bool {
		return has(run.Pipeline) ||
			run.Error != nil && (has(run.Error.Code) || (known || !run.Error.OfAuthor()) && has(run.Error.Detail))
	})
}
