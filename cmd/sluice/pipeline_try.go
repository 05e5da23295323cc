package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
	"sluice/manifest"
)

const (
	defaultTries = 100
	triesAtOnce  = 25 // so that people see progress
	triesShown   = 20
)

func (t *cli) pipelineTry(ctx context.Context) error {
	source, err := t.Read(t.Args[0])
	if err != nil {
		return err
	}
	if !t.Params.Has("eventKey") && !t.Params.Has("pipeline") {
		name := manifest.NameOf(t.Args[0])
		if _, err := t.Server.PipelineVersions(ctx, name); err == nil {
			t.Params.Set("pipeline", name)
		}
	}
	found, failed := t.tryAll(ctx, string(source), t.Params)
	if failed != nil && found.Tried() == 0 {
		return inFile(t.Args[0], failed)
	}
	if err := t.Present(found, func(w io.Writer) { t.listTried(w, t.Args[0], found) }); err != nil {
		return err
	}
	if failed == nil && found.Fails > 0 {
		return exit.Errorf(exit.Failed, "The draft fails on %s.", view.Counted(found.Fails, "event"))
	}
	return failed
}

// tryAll tries a draft page by page. With an error it returns what it has found so
// far.
func (t *cli) tryAll(ctx context.Context, source string, params url.Values) (all sluice.TryResult, err error) {
	limit := defaultTries
	if params.Has("limit") {
		if limit, err = strconv.Atoi(params.Get("limit")); err != nil || limit < 1 {
			return all, exit.Usage("--limit must be a number of events, not %q.", params.Get("limit"))
		}
	}
	all.Items = []sluice.TryItem{}
	bar := t.Progress(limit, "trying")
	defer bar.End()
	for all.Tried() < limit {
		params.Set("limit", strconv.Itoa(min(triesAtOnce, limit-all.Tried())))
		page, err := t.Server.Try(ctx, source, params)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				bar.End()
				t.Notef("Stopped.")
			}
			return all, err
		}
		all.Same += page.Same
		all.Differs += page.Differs
		all.Fails += page.Fails
		all.Unknown += page.Unknown
		all.Mended += page.Mended
		all.New += page.New
		all.StillFails += page.StillFails
		all.Items = append(all.Items, page.Items[:min(len(page.Items), triesShown-len(all.Items))]...)
		all.Warnings = page.Warnings
		bar.Steps(page.Tried())
		if all.Next = page.Next; page.Next == "" {
			break
		}
		params.Set("after", page.Next)
	}
	return all, nil
}

func (t *cli) listTried(w io.Writer, file string, found sluice.TryResult) {
	still := ""
	if found.StillFails > 0 {
		still = fmt.Sprintf(" (%d of them still fail)", found.StillFails)
	}
	fmt.Fprintf(w, "%s: tried on %s: %d as before%s, %d differ, %d fail, %d unknown\n", file,
		view.Counted(found.Tried(), "event"), found.Same, still, found.Differs, found.Fails, found.Unknown)
	t.listFindings(w, file, "warning: ", found.Warnings)
	for _, item := range found.Items {
		shade := view.Yellow
		if item.Verdict == sluice.TryFails || item.Verdict == sluice.TrySame && item.Failed() {
			shade = view.Red
		}
		fmt.Fprintf(w, "  %s  %s  %s\n", t.Paint(shade, fmt.Sprintf("%-7s", item.Verdict)), item.TraceID,
			item.EventKey)
		if item.Reason != "" {
			fmt.Fprintln(w, "    "+view.Printable(item.Reason))
			continue
		}
		fmt.Fprintln(w, "    was:      "+view.Printable(outcomeLine(item.Was, item.WouldBe)))
		fmt.Fprintln(w, "    would be: "+view.Printable(outcomeLine(item.WouldBe, item.Was)))
	}
}

// outcomeLine returns in a line how a run ended, with what it sent where the other run has sent
// something else to the same URL.
func outcomeLine(o, other *sluice.TryOutcome) string {
	if o == nil {
		return "no run"
	}
	parts := []string{o.Status.Word()}
	for _, part := range []string{o.Code, o.Message, string(o.Value)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	said := []string{beginning(strings.Join(parts, " "))}
	for i, call := range o.Calls {
		done, then := call.Command, sluice.TryCall{}
		if other != nil && i < len(other.Calls) {
			then = other.Calls[i]
		}
		if call.Args != then.Args {
			done += " " + beginning(call.Args)
		}
		if call.HTTP != nil {
			done += " " + call.HTTP.Method + " " + cmp.Or(call.HTTP.URL, call.HTTP.Host)
			if then.HTTP != nil {
				done += sentInstead(call.HTTP.Request, then.HTTP.Request)
			}
		}
		said = append(said, done)
	}
	return strings.Join(said, ", ")
}

// sentInstead returns the body of a request where it differs from that of another.
func sentInstead(request, other string) string {
	_, body, _ := strings.Cut(request, "\n\n")
	if _, rest, _ := strings.Cut(other, "\n\n"); body == rest {
		return ""
	}
	return " " + beginning(body)
}

// beginning returns a text, cut off where it is too long for a line.
func beginning(text string) string {
	const longest = 200
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
