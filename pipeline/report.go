package pipeline

import (
	"time"

	"sluice"
)

// maxReported is how many steps of a run its report lists.
const maxReported = 500

// note records a step in the report.
func (x *execution) note(s *step, started time.Time, err error) {
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
	x.report.Steps = append(x.report.Steps, r)
}
