package view

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sluice"
)

// CallColumns are the columns of a list of calls.
var CallColumns = append(Columns("time", "status", "next", "eventKey", "type", "traceId", "duration"),
	Column{title: "Reason", of: func(call *yaml.Node) string {
		return stepBefore.ReplaceAllString(reasonOf(call), "")
	}})

// stepBefore is where it failed. A line of a list is cut at its end, and what happened
// matters more.
var stepBefore = regexp.MustCompile(`^Step \d+, [^:]*: `)

// reasonOf returns why a call was refused, or why a pipeline failed on it.
func reasonOf(call *yaml.Node) string {
	if code := TextOf(call, "code"); code != "" {
		return code
	}
	if TextOf(call, "status") == string(sluice.StatusOK) {
		return "" // an attempt before may have failed
	}
	for _, run := range slices.Backward(List(call, "runs")) { // the latest attempt first
		if problem := Field(run, "error"); Field(problem, "detail") != nil {
			return problemOf(problem)
		}
	}
	return ""
}

var stepColumns = []Column{
	{title: "Step", field: "command", whole: true},
	{title: "Line", field: "line"},
	{title: "Status", field: "status"},
	{title: "Took", field: "duration"},
	{title: "Code", field: "code"},
	{title: "HTTP", of: exchangeOf},
}

// exchangeOf returns what a step sent, and the status that came back.
func exchangeOf(step *yaml.Node) string {
	http := Field(step, "http")
	return strings.TrimSpace(TextOf(http, "method") + " " + cmp.Or(TextOf(http, "url"), TextOf(http, "host")) + " " +
		TextOf(http, "statusCode"))
}

// Call shows everything about a call, and lists its replays.
func (v *View) Call(call *yaml.Node, replays []*yaml.Node) {
	facts := v.callFacts(call)
	for _, replay := range replays {
		facts.add("Replayed as", joined(", ", v.brief(replay, "traceId"), v.statusOf(replay), v.brief(replay, "time")))
	}
	v.facts("", facts)
	runs := slices.DeleteFunc(List(call, "runs"), func(run *yaml.Node) bool {
		return Field(run, "eventKey") != nil // what the call has set off is shown by itself
	})
	for _, run := range runs {
		v.run(run, isRepeated(runs, run))
	}
	readable(Field(call, "payload"))
	v.data(call, "headers", "payload")
	v.data(Field(call, "result"), "value")
}

// readable replaces the base64 of a payload by the text or JSON that it is. Bytes that
// are no text stay as they are.
func readable(payload *yaml.Node) {
	origin := Field(payload, "origin")
	if origin == nil {
		return
	}
	text, err := base64.StdEncoding.DecodeString(origin.Value)
	if err != nil || !utf8.Valid(text) || bytes.ContainsRune(text, 0) {
		return
	}
	*payload = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(text)}
	if document, err := Parse(text); err == nil {
		*payload = *document
	}
}

func (v *View) callFacts(call *yaml.Node) (facts facts) {
	request := strings.TrimSpace(TextOf(call, "method") + " " + cmp.Or(TextOf(call, "eventKey"), "(no webhook)"))
	size := v.brief(call, "size")
	if TextOf(call, "replayOf") != "" {
		size = "" // a replay has the size of the event, not of the body
	}
	request = joined(", ", request, joined(" of ", size, v.brief(call, "contentType")))
	facts.add("Call", joined(" from ", request, v.brief(call, "remoteAddr")))
	facts.add("Received", v.full(call, "time"))
	answer := v.brief(call, "statusCode") // events that were sent or replayed have no caller
	if answer != "" {
		answer = joined(" after ", answer, v.brief(call, "duration"))
	}
	facts.add("Status", joined(", answered ", v.statusOf(call), answer))
	facts.add("Tried again", v.full(call, "next"))
	facts.add("Reason", Printable(reasonOf(call)))
	for _, name := range []string{"diagnosis", "errors", "quarantine", "traceId", "correlationId", "replayOf"} {
		facts.add(Title(name), v.brief(call, name))
	}
	return facts
}

// isRepeated reports whether a run is one of several attempts.
func isRepeated(runs []*yaml.Node, run *yaml.Node) bool {
	return slices.ContainsFunc(runs, func(other *yaml.Node) bool {
		attempt := TextOf(other, "attempt")
		return TextOf(other, "pipeline") == TextOf(run, "pipeline") && attempt != "" && attempt != "1"
	})
}

// run shows what a pipeline did, step by step, and which attempt it was if there
// were several.
func (v *View) run(run *yaml.Node, repeated bool) {
	head := Paint(v.Colour, Bold, "Pipeline "+Printable(cmp.Or(TextOf(run, "pipeline"), "(not stored)")))
	ended := joined(" after ", v.statusOf(run), v.brief(run, "duration"))
	if repeated {
		ended += ", attempt " + joined(" at ", v.brief(run, "attempt"), v.full(run, "started"))
	}
	if next, err := time.Parse(time.RFC3339, TextOf(run, "next")); err == nil && next.After(v.Now) {
		ended += ", tried again " + v.ago(next)
	}
	fmt.Fprintf(v, "\n%s  %s\n", head, ended)
	if problem := Field(run, "error"); Field(problem, "detail") != nil {
		fmt.Fprintln(v, "  "+Paint(v.Colour, Red, Printable(problemOf(problem))))
	}
	steps := List(run, "steps")
	if len(steps) == 0 {
		return
	}
	v.Rows(steps, stepColumns, "  ")
	for _, step := range steps {
		v.exchange(step)
	}
}

// exchange shows what a step sent and what came back. The server shows that only to
// users who may see payloads.
func (v *View) exchange(step *yaml.Node) {
	http := Field(step, "http")
	for _, part := range []struct{ field, verb string }{{"request", "sent"}, {"response", "got back"}} {
		text := TextOf(http, part.field)
		if text == "" {
			continue
		}
		fmt.Fprintf(v, "\n  %s\n",
			Paint(v.Colour, Bold,
				fmt.Sprintf("%s (line %s) %s", Printable(TextOf(step, "command")), Printable(TextOf(step, "line")),
					part.verb)))
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			fmt.Fprintln(v, strings.TrimRight("    "+Printable(line), " "))
		}
	}
}

// Result shows the result of a call.
func (v *View) Result(result *yaml.Node) {
	var facts facts
	facts.add("Status", v.statusOf(result)+", "+v.brief(result, "statusCode"))
	for _, name := range []string{"error", "traceId", "correlationId"} {
		facts.add(Title(name), v.brief(result, name))
	}
	v.facts("", facts)
	v.data(result, "value")
}
