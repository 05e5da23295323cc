package pipeline

import (
	"context"

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
			if sluice.RunFrom(ctx) == nil { // otherwise the run has one
				release, err := r.slot()
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
