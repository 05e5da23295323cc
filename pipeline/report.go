package pipeline

import (
	"time"

	"sluice"
)

const (
	maxReported = 500 // steps that the report of a run lists

	// What the report tells of HTTP: of one request or answer, of a URL, and
	// of all exchanges together. Beyond that it has method, URL and status.
	maxMessage   = 4 << 10
	maxURL       = 2 << 10
	maxExchanges = 128 << 10
)

// newReport returns the head of a run's report.
func newReport(p *Program, s Start) *sluice.RunReport {
	return &sluice.RunReport{
		Pipeline:      s.Run.Pipeline,
		TraceID:       s.Run.TraceID,
		CorrelationID: s.Run.CorrelationID,
		EventKey:      s.EventKey,
		Attempt:       s.Attempt,
		Delivery:      s.Delivery,
		Steps:         make([]sluice.StepReport, 0, min(len(p.steps), maxReported)),
	}
}

// note records a step in the report, with the user that the run goes on as if it
// was another one before.
func (x *execution) note(s *step, started time.Time, before sluice.User, err error) {
	if x.report == nil || len(x.report.Steps) >= maxReported {
		return
	}
	r := sluice.StepReport{
		Number:   s.number,
		Command:  s.name,
		ID:       s.id,
		Line:     s.line,
		Started:  sluice.Milliseconds(started.Sub(x.started)),
		Duration: sluice.Milliseconds(time.Since(started)),
		Status:   sluice.StatusOK,
	}
	if err != nil {
		r.Status, r.Code = sluice.StatusError, sluice.AsError(err).Code
	}
	if now := x.run.User().Name; now != before.Name {
		r.User = now
	}
	if e := x.run.TakeHTTP(); e != nil {
		r.HTTP = x.exchange(e)
	}
	x.report.Steps = append(x.report.Steps, r)
}

// exchange returns what the report tells of an exchange, without secrets.
func (x *execution) exchange(e *sluice.Exchange) *sluice.Exchange {
	shown := &sluice.Exchange{
		Method:     e.Method,
		URL:        x.secrets.hideStart(e.URL, maxURL),
		StatusCode: e.StatusCode,
	}
	if x.noted < maxExchanges {
		shown.Request, shown.Response = x.secrets.hideStart(e.Request, maxMessage), x.secrets.hideStart(e.Response, maxMessage)
		x.noted += len(shown.Request) + len(shown.Response)
	}
	return shown
}
