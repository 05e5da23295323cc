package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
	"sluice/serve"
	"sluice/value"
)

// mistake returns the mistakes in a source as one error, nil if there is none. With force,
// missing rights don't count.
func mistake(l sluice.LintResult, file string, force bool) error {
	if force {
		l.Problems = slices.DeleteFunc(l.Problems, func(f sluice.Finding) bool { return f.Permission != "" })
	}
	if len(l.Problems) == 0 {
		return nil
	}
	var lines []string
	for _, p := range l.Problems {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", file, p.Line, p.Column, p.Message))
		if advice := p.Advice(); advice != "" {
			lines = append(lines, advice)
		}
	}
	return &exit.CodeError{Code: exit.Failed, Message: lines[0], Hint: strings.Join(lines[1:], "\n")}
}

type lintedFile struct {
	File string `json:"file"`
	sluice.LintResult
}

func (t *cli) pipelineLint(ctx context.Context) error {
	found, err := eachFile(t, func(file, source string) (lintedFile, error) {
		linted, err := t.lint(ctx, source)
		return lintedFile{file, linted}, err
	})
	if err != nil {
		return err
	}
	mistakes := 0
	for _, f := range found {
		mistakes += len(f.Problems)
	}
	if err := t.Present(found, func(w io.Writer) { t.listLinted(w, found) }); err != nil {
		return err
	}
	if mistakes > 0 {
		return exit.Errorf(exit.Failed, "%s.", view.Counted(mistakes, "mistake"))
	}
	return nil
}

// lint lets the server check a source, or this program if there is no server.
func (t *cli) lint(ctx context.Context, source string) (found sluice.LintResult, err error) {
	why := t.Connect()
	if why == nil {
		found, why = t.Server.Lint(ctx, "", source, "")
	}
	if why == nil {
		return found, nil
	}
	t.Notef("Rights were not checked: %s", exit.Explain(why))
	return offline[sluice.LintResult](ctx, "pipeline.lint", source)
}

func (t *cli) listLinted(w io.Writer, found []lintedFile) {
	for _, f := range found {
		if f.Valid {
			fmt.Fprintf(w, "%s: no mistakes\n", f.File)
		}
		t.listFindings(w, f.File, "", f.Problems)
		t.listFindings(w, f.File, "warning: ", f.Warnings)
	}
}

func (t *cli) listFindings(w io.Writer, file, kind string, found []sluice.Finding) {
	for _, p := range found {
		fmt.Fprintf(w, "%s:%d:%d: %s\n", file, p.Line, p.Column,
			view.Printable(strings.TrimSpace(kind+p.Message+" "+p.Advice())))
		if p.Snippet != "" {
			fmt.Fprintln(w, "    "+t.Paint(view.Faint, p.Snippet))
		}
	}
}

// offline runs a command of this program, not of a server, on a source.
func offline[T any](ctx context.Context, command, source string) (found T, err error) {
	out, err := serve.Offline(ctx, command, client.SourceOf(source))
	if err != nil {
		return found, err
	}
	return out.(T), nil
}

// inFile returns an error about a source with its position in the file, in the form
// that lint has.
func inFile(file string, err error) error {
	e, ok := errors.AsType[*sluice.Error](err)
	if !ok || e.Position.Line == 0 {
		return err
	}
	var found []sluice.Finding
	text, err := value.Marshal(e.Details)
	if err == nil && json.Unmarshal(text, &found) == nil && len(found) > 0 && found[0].Line == e.Position.Line {
		return mistake(sluice.LintResult{Problems: found}, file, false)
	}
	message := strings.TrimPrefix(e.Message, fmt.Sprintf("Line %d: ", e.Position.Line))
	return e.Saying(fmt.Sprintf("%s:%d:%d: %s", file, e.Position.Line, max(1, e.Position.Column), message))
}
