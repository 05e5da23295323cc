package pipeline

import (
	"time"

	"sluice"
)

// maxReported is how many steps of a run its report lists.
const maxReported = 500

// note enters a step in the report, with who the run goes on as if it was someone
// else before.
func (x *execution) note(s *step, started time.Time, before sluice.User, err error) {
	if x.report == nil || len(x.report.Steps) >= maxReported {
		return
	}
	r := sluice.StepReport{
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
	x.report.Steps = append(x.report.Steps, r)
}
