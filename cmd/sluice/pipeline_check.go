package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/serve"
)

// mistake returns the first mistake of a source, nil if there is none. With
// force a lack of rights is none.
func mistake(l sluice.LintResult, file string, force bool) error {
	if force {
		l.Problems = slices.DeleteFunc(l.Problems, func(f sluice.Finding) bool { return f.Permission != "" })
	}
	if len(l.Problems) == 0 {
		return nil
	}
	first := l.Problems[0]
	text := fmt.Sprintf("%s:%d:%d: %s", file, first.Line, first.Column, first.Message)
	if more := len(l.Problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return &failure{code: exitFailed, message: text, hint: first.Advice()}
}

// A lintedFile is a file with its mistakes.
type lintedFile struct {
	File string `json:"file"`
	sluice.LintResult
}

func pipelineLint(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE|FOLDER...",
		Short: "List the mistakes in pipelines",
		Long: "List the mistakes in pipelines with their places. The server that you are logged in at also tells\n" +
			"which steps would be refused. Without one, what this program knows is checked, and no rights.",
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
				if err := t.lint(cmd.Context(), file, &found[i].LintResult); err != nil {
					return err
				}
				failed = append(failed, mistake(found[i].LintResult, file, false))
			}
			if err := t.showLinted(found); err != nil {
				return err
			}
			return failures(failed)
		},
	}
}

// lint lets the server look at a file, or this program where there is none.
func (t *terminal) lint(ctx context.Context, file string, into *sluice.LintResult) error {
	source, err := t.read(file)
	if err != nil {
		return err
	}
	c, why := t.connect()
	if why == nil {
		*into, why = c.Lint(ctx, "", string(source))
	}
	if why == nil {
		return nil
	}
	t.note("Rights were not checked: " + explain(why))
	return t.offline(ctx, "pipeline.lint", string(source), into)
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
		for i, p := range slices.Concat(f.Problems, f.Warnings) {
			text := p.Message + " " + p.Advice()
			if i >= len(f.Problems) {
				text = "warning: " + text
			}
			fmt.Fprintf(t.out, "%s:%d:%d: %s\n", f.File, p.Line, p.Column, printable(strings.TrimSpace(text)))
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

// offline runs a command of this program, not of a server, on a source.
func (t *terminal) offline(ctx context.Context, command, source string, into any) error {
	out, err := serve.Offline(ctx, command, client.SourceOf(source))
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
				source, err := t.read(file)
				if err != nil {
					return err
				}
				var lint sluice.LintResult
				if err := t.offline(cmd.Context(), "pipeline.lint", string(source), &lint); err != nil {
					return err
				}
				if err := mistake(lint, file, false); err != nil {
					return err
				}
				if err := t.offline(cmd.Context(), "pipeline.test", string(source), &results[i]); err != nil {
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
