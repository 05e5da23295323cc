package run

import (
	"strings"
	"time"

	"sluice"
	"sluice/pipeline/source"
)

// MaxReported is how many steps the report of a run lists.
const MaxReported = 500

// How many bytes a report has of a request or reply, of a URL, and of all exchanges
// together. Beyond that it has method, URL and status.
const (
	MaxMessage   = 4 << 10
	MaxURL       = 2 << 10
	MaxExchanges = 128 << 10
)

// newReport returns the head of a run's report.
func newReport(p *source.Program, s Start) *sluice.RunReport {
	return &sluice.RunReport{
		Pipeline:      s.Run.Pipeline,
		User:          s.Run.Caller,
		TraceID:       s.Run.TraceID,
		CorrelationID: s.Run.CorrelationID,
		EventKey:      s.EventKey,
		Attempt:       s.Attempt,
		Delivery:      s.Delivery,
		Steps:         make([]sluice.StepReport, 0, min(len(p.Steps), MaxReported)),
	}
}

// note adds a step to the report. If the step switched the user, the report has the new
// one.
func (x *execution) note(s *source.Step, started time.Time, before sluice.User, err error) {
	sent := x.run.TakeHTTP()
	if sent != nil {
		x.hosts = withName(x.hosts, hostOf(x.secrets.hideText(sent.URL)))
	}
	if x.report == nil || len(x.report.Steps) >= MaxReported {
		return
	}
	r := sluice.StepReport{
		Number:   s.Number,
		Command:  s.Name,
		ID:       s.ID,
		Line:     s.Line,
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
	if sent != nil {
		r.HTTP = x.exchange(sent)
	}
	x.report.Steps = append(x.report.Steps, r)
}

// exchange returns an exchange for the report, without secrets.
func (x *execution) exchange(e *sluice.Exchange) *sluice.Exchange {
	shown := &sluice.Exchange{
		Method:     e.Method,
		URL:        x.secrets.HideStart(e.URL, MaxURL),
		StatusCode: e.StatusCode,
	}
	if host := hostOf(shown.URL); strings.Contains(x.program.Text, host) {
		shown.Host = host
	}
	if x.noted < MaxExchanges {
		shown.Request, shown.Response = x.secrets.HideStart(e.Request, MaxMessage), x.secrets.HideStart(e.Response, MaxMessage)
		x.noted += len(shown.Request) + len(shown.Response)
	}
	return shown
}

// hostOf returns the host of a URL that has no user, and may be cut off.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(strings.NewReplacer("?", "/", "#", "/").Replace(rest), "/")
	return host
}
