package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/manifest"
	"sluice/serve"
)

// mistake returns the first mistake in a source, nil if there is none. With force,
// missing rights don't count.
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

type lintedFile struct {
	File string `json:"file"`
	sluice.LintResult
}

func pipelineLint(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE|FOLDER...",
		Short: "List the mistakes in pipelines",
		Long:  "List the mistakes in pipelines with their places. The server that you are logged in at also tells which steps would be refused. Without one, what this program knows is checked, and no rights. The file - is standard input.",
		Args:  arguments(1, -1, "a file or a folder with pipelines"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := filesIn(args)
			if err != nil {
				return err
			}
			found := make([]lintedFile, len(files))
			mistakes := 0
			for i, file := range files {
				linted, err := t.lint(cmd.Context(), file)
				if err != nil {
					return err
				}
				found[i] = lintedFile{file, linted}
				mistakes += len(linted.Problems)
			}
			if err := t.tell(found, func(w io.Writer) { t.listLinted(w, found) }); err != nil {
				return err
			}
			if mistakes > 0 {
				return &failure{code: exitFailed, message: view.Counted(mistakes, "mistake") + "."}
			}
			return nil
		},
	}
}

// lint lets the server check a file, or this program if there is no server.
func (t *terminal) lint(ctx context.Context, file string) (found sluice.LintResult, err error) {
	source, err := t.read(file)
	if err != nil {
		return found, err
	}
	c, why := t.connect()
	if why == nil {
		found, why = c.Lint(ctx, "", string(source))
	}
	if why == nil {
		return found, nil
	}
	t.note("Rights were not checked: " + explain(why))
	return offline[sluice.LintResult](ctx, "pipeline.lint", string(source))
}

func (t *terminal) listLinted(w io.Writer, found []lintedFile) {
	for _, f := range found {
		if f.Valid {
			fmt.Fprintf(w, "%s: no mistakes\n", f.File)
		}
		t.listFindings(w, f.File, "", f.Problems)
		t.listFindings(w, f.File, "warning: ", f.Warnings)
	}
}

func (t *terminal) listFindings(w io.Writer, file, kind string, found []sluice.Finding) {
	for _, p := range found {
		fmt.Fprintf(w, "%s:%d:%d: %s\n", file, p.Line, p.Column, view.Printable(strings.TrimSpace(kind+p.Message+" "+p.Advice())))
		if p.Snippet != "" {
			fmt.Fprintln(w, "    "+view.Paint(colours(t.out), view.Faint, view.Printable(p.Snippet)))
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

type testedFile struct {
	File string `json:"file"`
	sluice.TestReport
}

func pipelineTest(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "test FILE|FOLDER...",
		Short: "Run the tests that pipelines carry, without a server",
		Long:  "Run the tests that pipelines carry, without a server. The file - is standard input.",
		Args:  arguments(1, -1, "a file or a folder with pipelines"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := filesIn(args)
			if err != nil {
				return err
			}
			results := make([]testedFile, len(files))
			failed := 0
			for i, file := range files {
				if results[i], err = t.test(cmd.Context(), file); err != nil {
					return err
				}
				failed += results[i].Failed
			}
			if err := t.tell(results, func(w io.Writer) { t.listTested(w, results) }); err != nil {
				return err
			}
			if failed > 0 {
				return &failure{code: exitFailed, message: view.Counted(failed, "test") + " failed."}
			}
			return nil
		},
	}
}

// test runs the tests in a file, unless it has mistakes.
func (t *terminal) test(ctx context.Context, file string) (testedFile, error) {
	source, err := t.read(file)
	if err != nil {
		return testedFile{}, err
	}
	linted, err := offline[sluice.LintResult](ctx, "pipeline.lint", string(source))
	if err == nil {
		err = mistake(linted, file, false)
	}
	if err != nil {
		return testedFile{}, err
	}
	report, err := offline[sluice.TestReport](ctx, "pipeline.test", string(source))
	return testedFile{file, report}, err
}

func (t *terminal) listTested(w io.Writer, results []testedFile) {
	colour := colours(t.out)
	for _, r := range results {
		fmt.Fprintf(w, "%s: %d passed, %d failed\n", r.File, r.Passed, r.Failed)
		for _, test := range r.Tests {
			if test.Passed {
				fmt.Fprintf(w, "  %s  %s\n", view.Paint(colour, view.Green, "ok  "), view.Printable(test.Name))
			} else {
				fmt.Fprintf(w, "  %s  %s: %s\n", view.Paint(colour, view.Red, "FAIL"), view.Printable(test.Name), view.Printable(test.Message))
			}
		}
	}
}

const (
	defaultTries = 100
	triesAtOnce  = 25 // so that people see progress
	triesShown   = 20
)

func pipelineTry(t *terminal) *cobra.Command {
	return t.calling(&cobra.Command{
		Use:     "try FILE",
		Short:   "Try a draft of a pipeline on past events, without doing anything outside",
		Long:    "Try a draft of a pipeline on past events, and show where it would end in another way than the pipeline did. Nothing is done outside: what was called then answers as it did then, otherwise as the stubs of the draft's first test say. The events are those of the stored pipeline with the file's name, or with the key that the draft listens to, unless flags say otherwise. It can be interrupted: what was found by then is shown.",
		Example: "  sluice pipeline try leads.yaml --since 1d",
		Args:    arguments(1, 1, "a file with a pipeline"),
	}, "pipeline.try", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		source, err := t.read(args[0])
		if err != nil {
			return err
		}
		if !values.Has("eventKey") && !values.Has("pipeline") {
			name := manifest.NameOf(args[0])
			if _, err := c.PipelineVersions(cmd.Context(), name); err == nil {
				values.Set("pipeline", name)
			}
		}
		found, failed := t.tryAll(cmd.Context(), c, string(source), values)
		if failed != nil && found.Tried() == 0 {
			return inFile(args[0], failed)
		}
		if err := t.tell(found, func(w io.Writer) { t.listTried(w, args[0], found) }); err != nil {
			return err
		}
		if failed == nil && found.Fails > 0 {
			return &failure{code: exitFailed, message: "The draft fails on " + view.Counted(found.Fails, "event") + "."}
		}
		return failed
	}, "after")
}

// tryAll tries a draft page by page. With an error it returns what it has found so
// far.
func (t *terminal) tryAll(ctx context.Context, c *client.Client, source string, params url.Values) (all sluice.TryResult, err error) {
	limit := defaultTries
	if params.Has("limit") {
		if limit, err = strconv.Atoi(params.Get("limit")); err != nil || limit < 1 {
			return all, usage("--limit must be a number of events, not %q.", params.Get("limit"))
		}
	}
	all.Items = []sluice.TryItem{}
	bar := t.progress(limit, "trying")
	defer bar.end()
	for all.Tried() < limit {
		params.Set("limit", strconv.Itoa(min(triesAtOnce, limit-all.Tried())))
		page, err := c.Try(ctx, source, params)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				bar.end()
				t.note("Stopped.")
			}
			return all, err
		}
		all.Mended, all.New, all.StillFails = all.Mended+page.Mended, all.New+page.New, all.StillFails+page.StillFails
		all.Same, all.Differs, all.Fails, all.Unknown = all.Same+page.Same, all.Differs+page.Differs, all.Fails+page.Fails, all.Unknown+page.Unknown
		all.Items = append(all.Items, page.Items[:min(len(page.Items), triesShown-len(all.Items))]...)
		all.Warnings = page.Warnings
		bar.steps(page.Tried())
		if all.Next = page.Next; page.Next == "" {
			break
		}
		params.Set("after", page.Next)
	}
	return all, nil
}

func (t *terminal) listTried(w io.Writer, file string, found sluice.TryResult) {
	still := ""
	if found.StillFails > 0 {
		still = fmt.Sprintf(" (%d of them still fail)", found.StillFails)
	}
	fmt.Fprintf(w, "%s: tried on %s: %d as before%s, %d differ, %d fail, %d unknown\n", file, view.Counted(found.Tried(), "event"), found.Same, still, found.Differs, found.Fails, found.Unknown)
	t.listFindings(w, file, "warning: ", found.Warnings)
	colour := colours(t.out)
	for _, item := range found.Items {
		shade := view.Yellow
		if item.Verdict == sluice.TryFails || item.Verdict == sluice.TrySame && item.Failed() {
			shade = view.Red
		}
		fmt.Fprintf(w, "  %s  %s  %s\n", view.Paint(colour, shade, fmt.Sprintf("%-7s", item.Verdict)), item.TraceID, item.EventKey)
		if item.Reason != "" {
			fmt.Fprintln(w, "    "+view.Printable(item.Reason))
			continue
		}
		fmt.Fprintln(w, "    was:      "+view.Printable(ended(item.Was)))
		fmt.Fprintln(w, "    would be: "+view.Printable(ended(item.WouldBe)))
	}
}

// ended returns in a line how a run ended.
func ended(o *sluice.TryOutcome) string {
	const longest = 200
	if o == nil {
		return "no run"
	}
	parts := []string{o.Status.Word()}
	for _, part := range []string{o.Code, o.Message, string(o.Value)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	said := []string{text}
	for _, call := range o.Calls {
		done := call.Command
		if call.HTTP != nil {
			done += " " + call.HTTP.Method + " " + cmp.Or(call.HTTP.URL, call.HTTP.Host)
		}
		said = append(said, done)
	}
	return strings.Join(said, ", ")
}

// inFile returns an error about a source with its position in the file, in the form
// that lint has.
func inFile(file string, err error) error {
	e, ok := errors.AsType[*sluice.Error](err)
	if !ok || e.Position.Line == 0 {
		return err
	}
	message := strings.TrimPrefix(e.Message, fmt.Sprintf("Line %d: ", e.Position.Line))
	message = strings.Replace(message, "; pipeline.lint lists all.", "; sluice pipeline lint "+file+" lists all.", 1)
	return e.Saying(fmt.Sprintf("%s:%d:%d: %s", file, e.Position.Line, max(1, e.Position.Column), message))
}
