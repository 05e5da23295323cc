package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/client"
	"sluice/value"
)

func traceCommand(t *terminal) *cobra.Command {
	var follow, open bool
	cmd := &cobra.Command{
		Use:     "trace [LAST6[:RANDOM]]",
		Short:   "Find calls and what pipelines made of them",
		Long:    "Find calls and what pipelines made of them, newest first. The last 6 characters of a webhook's token find all its calls, a whole trace id finds one. With --follow calls and runs are told as they happen, until you interrupt.",
		Example: "  sluice trace 4a5575 --since 1h --status failed\n  sluice trace --event-key webhook.lead.created --follow",
		Args:    arguments(0, 1, "one trace id"),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "tell of calls and runs as they happen")
	t.addOpen(cmd, &open)
	return t.calling(cmd, "trace.get", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		if len(args) > 0 {
			values.Set("traceId", args[0])
		}
		switch {
		case open:
			return t.open(cmd.Context(), c, "/calls", args...)
		case !follow:
			return t.trace(cmd.Context(), c, values)
		case values.Has("from") || values.Has("to") || values.Has("status"):
			return usage("--follow tells what happens from now on; it takes no span of time and no status.")
		}
		return t.follow(cmd.Context(), c, values)
	}, "traceId")
}

// trace shows calls, or everything about one.
func (t *terminal) trace(ctx context.Context, c *client.Client, params url.Values) error {
	calls := list{command: "trace.get", none: "No such calls were found.", columns: callColumns}
	id := params.Get("traceId")
	if id == "" {
		return calls.show(ctx, t, c, params)
	}
	answer, err := c.Command(ctx, "trace.get", params, nil)
	if err != nil {
		return err
	}
	var page sluice.List[json.RawMessage]
	if err := json.Unmarshal(answer.Body, &page); err == nil && len(page.Items) == 0 {
		return sluice.Errorf(sluice.CodeCallUnknown,
			"No call %s was found; give a whole trace id, or the last 6 characters of a webhook's token, and perhaps a longer span of time.", id)
	}
	if !strings.Contains(id, ":") {
		return calls.print(t, answer)
	}
	return t.write(answer.Body, func(w io.Writer, root *yaml.Node) error {
		calls := fieldOf(root, "items").Content
		replays, err := replaysOf(ctx, c, calls[0])
		if err != nil {
			return err
		}
		for _, call := range calls { // the call itself, then those that followed from it
			if err := t.view().call(w, call, replays); err != nil {
				return err
			}
			replays = nil
		}
		return nil
	})
}

// replaysOf returns the replays of a call among the newest calls of its webhook. The
// portal finds the same ones.
func replaysOf(ctx context.Context, c *client.Client, call *yaml.Node) (replays []*yaml.Node, err error) {
	const looked = "100"
	key := textOf(call, "eventKey")
	if status := textOf(call, "status"); key == "" || status == string(sluice.StatusRejected) || status == string(sluice.StatusHandshake) {
		return nil, nil // it has no event to replay
	}
	answer, err := c.Command(ctx, "trace.get", url.Values{"eventKey": {key}, "from": {textOf(call, "time")}, "limit": {looked}}, nil)
	if err != nil {
		return nil, err
	}
	page, err := parseJSON(answer.Body)
	if err != nil {
		return nil, err
	}
	for _, other := range slices.Backward(listOf(page, "items")) { // the oldest first
		if textOf(other, "replayOf") == textOf(call, "traceId") {
			replays = append(replays, other)
		}
	}
	return replays, nil
}

// follow shows calls and runs as they happen, each in a line.
func (t *terminal) follow(ctx context.Context, c *client.Client, params url.Values) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	return c.Follow(ctx, params, func(entry sluice.TailEntry) error {
		if form != "table" {
			return t.line(entry)
		}
		_, err := fmt.Fprintln(t.out, t.describe(entry))
		return err
	})
}

// line writes a value as one line of JSON.
func (t *terminal) line(v any) error {
	document, err := value.Marshal(v)
	if err != nil {
		return err
	}
	return writeJSON(t.out, document, false)
}

func (t *terminal) describe(entry sluice.TailEntry) string {
	var d struct {
		sluice.Call // a run has some of these fields, too

		Started  time.Time       `json:"started"`
		Pipeline string          `json:"pipeline"`
		Error    *sluice.Problem `json:"error"`
	}
	if err := json.Unmarshal(entry.Data, &d); err != nil || entry.Type != "call" && entry.Type != "run" {
		return printable(entry.Type + " " + string(entry.Data))
	}
	at, what, detail := d.Time, d.EventKey, d.Code
	if entry.Type == "run" {
		at, what = d.Started, cmp.Or(d.Pipeline, "(not stored)")
	}
	if d.Error != nil {
		detail = d.Error.Detail
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %-4s  %s  %s  %s  %s  %s", at.Local().Format(time.TimeOnly), entry.Type,
		printable(d.TraceID), printable(what), paint(colours(t.out), cmp.Or(statusColours[d.Status.Word()], green), printable(d.Status.Word())), milliseconds(d.Duration), printable(detail)))
}

var callColumns = append(columnsOf("time", "status", "next", "eventKey", "traceId", "duration"), column{title: "Reason", of: func(call *yaml.Node) string {
	return stepBefore.ReplaceAllString(reasonOf(call), "")
}})

// stepBefore is where it failed. A line of a list is cut at its end, and what happened
// matters more.
var stepBefore = regexp.MustCompile(`^Step \d+, [^:]*: `)

// reasonOf returns why a call was refused, or why a pipeline failed on it.
func reasonOf(call *yaml.Node) string {
	if code := textOf(call, "code"); code != "" {
		return code
	}
	if textOf(call, "status") == string(sluice.StatusOK) {
		return "" // an attempt before may have failed
	}
	for _, run := range slices.Backward(listOf(call, "runs")) { // the latest attempt first
		if problem := fieldOf(run, "error"); problem != nil && fieldOf(problem, "detail") != nil {
			return problemOf(problem)
		}
	}
	return ""
}

var stepColumns = []column{
	{title: "Step", field: "command", whole: true},
	{title: "Line", field: "line"},
	{title: "Status", field: "status"},
	{title: "Took", field: "duration"},
	{title: "Code", field: "code"},
	{title: "HTTP", of: exchangeOf},
}

// exchangeOf returns what a step sent, and the status that came back.
func exchangeOf(step *yaml.Node) string {
	http := fieldOf(step, "http")
	return strings.TrimSpace(textOf(http, "method") + " " + cmp.Or(textOf(http, "url"), textOf(http, "host")) + " " + textOf(http, "statusCode"))
}

// call writes everything about a call, and lists its replays.
func (v *view) call(w io.Writer, call *yaml.Node, replays []*yaml.Node) error {
	facts := v.callFacts(call)
	for _, again := range replays {
		text := printable(textOf(again, "traceId")) + ", " + v.statusOf(again)
		if at := fieldOf(again, "time"); at != nil {
			text += ", " + v.text("time", at)
		}
		facts = append(facts, fact{"Replayed as", text})
	}
	v.facts(w, "", facts)
	runs := listOf(call, "runs")
	for _, run := range runs {
		if err := v.run(w, run, isRepeated(runs, run)); err != nil {
			return err
		}
	}
	readable(fieldOf(call, "payload"))
	if err := v.data(w, call, "headers", "payload"); err != nil {
		return err
	}
	return v.data(w, fieldOf(call, "result"), "value")
}

// readable replaces the base64 of a payload by the text or JSON that it is. Bytes that
// are no text stay as they are.
func readable(payload *yaml.Node) {
	origin := fieldOf(payload, "origin")
	if origin == nil {
		return
	}
	text, err := base64.StdEncoding.DecodeString(origin.Value)
	if err != nil || !utf8.Valid(text) || bytes.ContainsRune(text, 0) {
		return
	}
	*payload = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(text)}
	if document, err := parseJSON(text); err == nil {
		*payload = *document
	}
}

func (v *view) callFacts(call *yaml.Node) []fact {
	request := strings.TrimSpace(textOf(call, "method") + " " + cmp.Or(textOf(call, "eventKey"), "(no webhook)"))
	var body []string
	if size := fieldOf(call, "size"); size != nil && textOf(call, "replayOf") == "" { // a replay has the size of the event, not of the body
		body = append(body, v.text("size", size))
	}
	if media := textOf(call, "contentType"); media != "" {
		body = append(body, printable(media))
	}
	if len(body) > 0 {
		request += ", " + strings.Join(body, " of ")
	}
	if from := textOf(call, "remoteAddr"); from != "" {
		request += " from " + printable(from)
	}
	facts := []fact{{"Call", request}}
	if at := fieldOf(call, "time"); at != nil {
		facts = append(facts, fact{"Received", v.whole("time", at)})
	}
	facts = append(facts, fact{"Status", v.statusOf(call) + v.answerOf(call)})
	if next := fieldOf(call, "next"); next != nil {
		facts = append(facts, fact{"Tried again", v.whole("next", next)})
	}
	if reason := reasonOf(call); reason != "" {
		facts = append(facts, fact{"Reason", printable(reason)})
	}
	for _, name := range []string{"traceId", "correlationId", "replayOf"} {
		if id := textOf(call, name); id != "" {
			facts = append(facts, fact{titleOf(name), printable(id)})
		}
	}
	return facts
}

// answerOf returns what the caller was answered. Events that were sent or replayed
// have no caller.
func (v *view) answerOf(call *yaml.Node) string {
	code := textOf(call, "statusCode")
	if code == "" {
		return ""
	}
	answer := ", answered " + printable(code)
	if took := fieldOf(call, "duration"); took != nil {
		answer += " after " + v.text("duration", took)
	}
	return answer
}

// isRepeated reports whether a run is one of several attempts.
func isRepeated(runs []*yaml.Node, run *yaml.Node) bool {
	return slices.ContainsFunc(runs, func(other *yaml.Node) bool {
		attempt := textOf(other, "attempt")
		return textOf(other, "pipeline") == textOf(run, "pipeline") && attempt != "" && attempt != "1"
	})
}

// run writes what a pipeline did, step by step, and which attempt it was if there
// were several.
func (v *view) run(w io.Writer, run *yaml.Node, repeated bool) error {
	head := paint(v.colour, bold, "Pipeline "+printable(cmp.Or(textOf(run, "pipeline"), "(not stored)")))
	fmt.Fprintf(w, "\n%s  %s", head, v.statusOf(run))
	if took := fieldOf(run, "duration"); took != nil {
		fmt.Fprintf(w, " after %s", v.text("duration", took))
	}
	if repeated {
		fmt.Fprintf(w, ", attempt %s", printable(textOf(run, "attempt")))
		if began := fieldOf(run, "started"); began != nil {
			fmt.Fprintf(w, " at %s", v.whole("started", began))
		}
	}
	if field := fieldOf(run, "next"); field != nil {
		if next, ok := timeOf(field); ok && next.After(v.now) {
			fmt.Fprintf(w, ", tried again %s", v.ago(next))
		}
	}
	fmt.Fprintln(w)
	if problem := fieldOf(run, "error"); problem != nil && fieldOf(problem, "detail") != nil {
		fmt.Fprintln(w, "  "+paint(v.colour, red, printable(problemOf(problem))))
	}
	steps := listOf(run, "steps")
	if len(steps) == 0 {
		return nil
	}
	if err := v.rows(w, steps, stepColumns, "  "); err != nil {
		return err
	}
	for _, step := range steps {
		v.exchange(w, step)
	}
	return nil
}

// exchange writes what a step sent and what came back. The server shows that only to
// users who may see payloads.
func (v *view) exchange(w io.Writer, step *yaml.Node) {
	http := fieldOf(step, "http")
	for _, part := range []struct{ field, verb string }{{"request", "sent"}, {"response", "got back"}} {
		text := textOf(http, part.field)
		if text == "" {
			continue
		}
		fmt.Fprintf(w, "\n  %s\n", paint(v.colour, bold, fmt.Sprintf("%s (line %s) %s", printable(textOf(step, "command")), printable(textOf(step, "line")), part.verb)))
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			fmt.Fprintln(w, strings.TrimRight("    "+printable(line), " "))
		}
	}
}
