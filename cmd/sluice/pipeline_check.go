package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sluice"

	"github.com/spf13/cobra"

	"sluice/serve"
)

// mistake returns the first mistake of a source, nil if there is none.
func mistake(l sluice.LintResult, file string) error {
	if l.Valid || len(l.Problems) == 0 {
		return nil
	}
	first := l.Problems[0]
	text := fmt.Sprintf("%s:%d:%d: %s", file, first.Line, first.Column, first.Message)
	if more := len(l.Problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return &failure{code: exitFailed, message: text}
}

// A lintedFile is a file with its mistakes.
type lintedFile struct {
	File string `json:"file"`
	sluice.LintResult
}

func pipelineLint(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE|FOLDER...",
		Short: "List the mistakes in pipelines, without a server",
		Long: "List the mistakes in pipelines with their places. This needs no server: it knows the commands of\n" +
			"this program's version. sluice command pipeline.lint --body FILE lets the server look.",
		Args: arguments(1, -1, "a file or a folder with pipelines"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := filesIn(args)
			if err != nil {
				return err
			}
			found := make([]lintedFile, len(files))
			var failed []error
			for i, file := range files {
				found[i].File = file
				if err := t.offline(cmd.Context(), "pipeline.lint", file, &found[i].LintResult); err != nil {
					return err
				}
				failed = append(failed, mistake(found[i].LintResult, file))
			}
			if err := t.showLinted(found); err != nil {
				return err
			}
			return failures(failed)
		},
	}
}

func (t *terminal) showLinted(found []lintedFile) error {
	form, err := t.form()
	if err != nil || form != "table" {
		return firstError(err, func() error { return t.showValue(found) })
	}
	for _, f := range found {
		if f.Valid {
			fmt.Fprintf(t.out, "%s: no mistakes\n", f.File)
		}
		for _, p := range f.Problems {
			fmt.Fprintf(t.out, "%s:%d:%d: %s\n", f.File, p.Line, p.Column, printable(p.Message))
			if p.Snippet != "" {
				fmt.Fprintln(t.out, "    "+paint(colours(t.out), faint, printable(p.Snippet)))
			}
		}
	}
	return nil
}

func firstError(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// offline runs a command of this program, not of a server, on a file.
func (t *terminal) offline(ctx context.Context, command, file string, into any) error {
	source, err := t.read(file)
	if err != nil {
		return err
	}
	out, err := serve.Offline(ctx, command, string(source))
	if err != nil {
		return err
	}
	document, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return json.Unmarshal(document, into)
}

// A testedFile is a file with how its tests went.
type testedFile struct {
	File   string `json:"file"`
	Passed int    `json:"passed"`
	Failed int    `json:"failed"`
	Tests  []struct {
		Name    string `json:"name"`
		Passed  bool   `json:"passed"`
		Message string `json:"message,omitempty"`
	} `json:"tests"`
}

func pipelineTest(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "test FILE|FOLDER...",
		Short: "Run the tests that pipelines carry, without a server",
		Args:  arguments(1, -1, "a file or a folder with pipelines"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := filesIn(args)
			if err != nil {
				return err
			}
			results := make([]testedFile, len(files))
			failed := 0
			for i, file := range files {
				var lint sluice.LintResult
				if err := t.offline(cmd.Context(), "pipeline.lint", file, &lint); err != nil {
					return err
				}
				if err := mistake(lint, file); err != nil {
					return err
				}
				if err := t.offline(cmd.Context(), "pipeline.test", file, &results[i]); err != nil {
					return err
				}
				results[i].File = file
				failed += results[i].Failed
			}
			if err := t.showTested(results); err != nil {
				return err
			}
			if failed > 0 {
				return &failure{code: exitFailed, message: counted(failed, "test") + " failed."}
			}
			return nil
		},
	}
}

func (t *terminal) showTested(results []testedFile) error {
	form, err := t.form()
	if err != nil || form != "table" {
		return firstError(err, func() error { return t.showValue(results) })
	}
	colour := colours(t.out)
	for _, r := range results {
		fmt.Fprintf(t.out, "%s: %d passed, %d failed\n", r.File, r.Passed, r.Failed)
		for _, test := range r.Tests {
			if test.Passed {
				fmt.Fprintf(t.out, "  %s  %s\n", paint(colour, green, "ok  "), printable(test.Name))
			} else {
				fmt.Fprintf(t.out, "  %s  %s: %s\n", paint(colour, red, "FAIL"), printable(test.Name), printable(test.Message))
			}
		}
	}
	return nil
}
