package pipeline

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type testOutcome struct {
	Passed int          `json:"passed"`
	Failed int          `json:"failed"`
	Tests  []TestResult `json:"tests"`
}

func testCommand(r *Runner) command.Command {
	return command.New("pipeline.test", "Run the tests that a pipeline carries. Nothing outside is called: stubs answer.",
		func(ctx context.Context, p sourceParams) (testOutcome, error) {
			source, err := r.source(ctx, p)
			if err != nil {
				return testOutcome{}, err
			}
			program, err := r.Parse(source)
			if err != nil {
				return testOutcome{}, err
			}
			if sluice.RunFrom(ctx) == nil { // otherwise the run has a slot
				release, err := r.testSlot(sluice.UserFrom(ctx).Name)
				if err != nil {
					return testOutcome{}, err
				}
				defer release()
			}
			outcome := testOutcome{Tests: program.Test(ctx, r.Limits)}
			for _, result := range outcome.Tests {
				if result.Passed {
					outcome.Passed++
				} else {
					outcome.Failed++
				}
			}
			return outcome, nil
		}, command.ReadOnly)
}

// testsPerUser is how many tests a user runs at the same time: each may keep a
// core busy, and whoever may read may also test.
const testsPerUser = 2

// testSlot takes a slot for the tests of a user, until release is called.
func (r *Runner) testSlot(username string) (release func(), err error) {
	if !r.testers.Enter(username) {
		return nil, sluice.Errorf(sluice.CodeTooManyTests, "You run as many tests of pipelines as one user may; wait until one has ended.").After(time.Second)
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
