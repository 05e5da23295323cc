package main

import (
	"context"
	"fmt"
	"io"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
)

type testedFile struct {
	File string `json:"file"`
	sluice.TestReport
}

func (t *cli) pipelineTest(ctx context.Context) error {
	results, err := eachFile(t, func(file, source string) (testedFile, error) {
		return testFile(ctx, file, source)
	})
	if err != nil {
		return err
	}
	failed := 0
	for _, r := range results {
		failed += r.Failed
	}
	if err := t.Present(results, func(w io.Writer) { t.listTested(w, results) }); err != nil {
		return err
	}
	if failed > 0 {
		return exit.Errorf(exit.Failed, "%s failed.", view.Counted(failed, "test"))
	}
	return nil
}

// testFile runs the tests in a file, unless it has mistakes.
func testFile(ctx context.Context, file, source string) (testedFile, error) {
	linted, err := offline[sluice.LintResult](ctx, "pipeline.lint", source)
	if err == nil {
		err = mistake(linted, file, false)
	}
	if err != nil {
		return testedFile{}, err
	}
	report, err := offline[sluice.TestReport](ctx, "pipeline.test", source)
	return testedFile{file, report}, err
}

func (t *cli) listTested(w io.Writer, results []testedFile) {
	for _, r := range results {
		fmt.Fprintf(w, "%s: %d passed, %d failed\n", r.File, r.Passed, r.Failed)
		for _, test := range r.Tests {
			if test.Passed {
				fmt.Fprintf(w, "  %s  %s\n", t.Paint(view.Green, "ok  "), view.Printable(test.Name))
			} else {
				fmt.Fprintf(w, "  %s  %s: %s\n", t.Paint(view.Red, "FAIL"), view.Printable(test.Name),
					view.Printable(test.Message))
			}
		}
	}
}
