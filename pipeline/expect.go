package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice"
	"sluice/problem"
	"sluice/value"
)

// compare returns the first difference between what came out and what was
// wanted.
func (t *trial) compare(body any, vars map[string]any, err error) string {
	want := t.expect
	if difference := compareError(want.err, err); difference != "" {
		return difference
	}
	if want.body != nil && !value.Equal(*want.body, body) {
		return fmt.Sprintf("The body is %s, wanted %s.", brief(body), brief(*want.body))
	}
	for _, name := range slices.Sorted(maps.Keys(want.vars)) {
		if !value.Equal(want.vars[name], vars[name]) {
			return fmt.Sprintf("The variable %s is %s, wanted %s.", name, brief(vars[name]), brief(want.vars[name]))
		}
	}
	return t.compareCalls()
}

func compareError(want map[string]any, err error) string {
	if err == nil {
		if want != nil {
			return "It succeeded, an error was wanted."
		}
		return ""
	}
	e := sluice.AsError(err)
	if want == nil {
		return "It failed: " + e.Message
	}
	code, hasCode := want["code"].(string)
	status, hasStatus := want["statusCode"].(int)
	message, _ := want["message"].(string)
	switch {
	case hasCode && code != e.Code:
		return fmt.Sprintf("The error has the code %s, wanted %s: %s", e.Code, code, e.Message)
	case hasStatus && status != problem.Status(e):
		return fmt.Sprintf("The error has the status code %d, wanted %d: %s", problem.Status(e), status, e.Message)
	case !strings.Contains(e.Message, message):
		return fmt.Sprintf("The error is %s, wanted %s in it.", quote(e.Message), quote(message))
	}
	return ""
}

func (t *trial) compareCalls() string {
	if t.expect.calls == nil {
		return ""
	}
	for i, want := range t.expect.calls {
		if i >= len(t.calls) {
			return fmt.Sprintf("Call %d is missing: %s was wanted. Calls: %s.", i+1, want.command, t.callNames())
		}
		made := t.calls[i]
		if made.command != want.command {
			return fmt.Sprintf("Call %d is %s, wanted %s.", i+1, made.command, want.command)
		}
		for _, name := range slices.Sorted(maps.Keys(want.params)) {
			if !within(want.params[name], made.args[name]) {
				return fmt.Sprintf("Call %d, %s: %s is %s, wanted %s.", i+1, made.command, name, brief(made.args[name]), brief(want.params[name]))
			}
		}
	}
	if len(t.calls) > len(t.expect.calls) {
		return fmt.Sprintf("There are %d calls, wanted %d: %s.", len(t.calls), len(t.expect.calls), t.callNames())
	}
	return ""
}

func (t *trial) callNames() string {
	names := make([]string, 0, len(t.calls))
	for _, made := range t.calls {
		names = append(names, made.command)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Clip(names), ", ")
}

// within reports whether a value is what is wanted, where objects may have more
// fields.
func within(want, have any) bool {
	fields, ok := want.(map[string]any)
	if !ok {
		return value.Equal(want, have)
	}
	having, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for name, field := range fields {
		other, has := having[name]
		if !has || !within(field, other) {
			return false
		}
	}
	return true
}

// brief returns a value as JSON for a message.
func brief(v any) string {
	const longest = 300
	text, err := value.AppendJSON(nil, v, longest)
	if err != nil {
		return strings.ToValidUTF8(string(text[:min(len(text), longest)]), "") + "…"
	}
	return string(text)
}
