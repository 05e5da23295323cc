package pipeline

import (
	"context"
	"time"

	"sluice"
	"sluice/pipeline/rehearse"
)

// test runs the tests that a pipeline carries.
func (r *Runner) test(ctx context.Context, p sourceParams) (report sluice.TestReport, err error) {
	source, err := r.source(ctx, p)
	if err != nil {
		return report, err
	}
	program, err := r.parse(ctx, source)
	if err != nil {
		return report, err
	}
	release, err := r.testSlot(ctx, sluice.UserFrom(ctx).Name)
	if err != nil {
		return report, err
	}
	defer release()
	report.Tests = rehearse.Test(ctx, program, r.limits(ctx))
	for _, result := range report.Tests {
		if result.Passed {
			report.Passed++
		} else {
			report.Failed++
		}
	}
	return report, nil
}

// testsPerUser is how many rehearsals a user may run at the same time: each may keep a
// core busy, and users who may only read may test as well.
const testsPerUser = 2

// testSlot takes a slot for a user's rehearsal, until release is called. A rehearsal
// within a run shares the slot of the run.
func (r *Runner) testSlot(ctx context.Context, username string) (release func(), err error) {
	if sluice.RunFrom(ctx) != nil {
		return func() {}, nil
	}
	if !r.testers.Enter(username) {
		return nil, sluice.CodeTooManyTests.Errorf(
			"You run as many tests of pipelines as one user may; wait until one has ended.").After(time.Second)
	}
	end, err := r.slot()
	if err != nil {
		r.testers.Leave(username)
		return nil, err
	}
	return func() {
		end()
		r.testers.Leave(username)
	}, nil
}
