package rehearse

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice"
	"sluice/problem"
	"sluice/value"
)

// compare returns the first difference between the outcome and what the test wants.
func (t *trial) compare(body any, vars map[string]any, err error) string {
	want := t.Expect
	if difference := compareError(want.Error, err); difference != "" {
		return difference
	}
	if want.Body != nil && !value.Equal(*want.Body, body) {
		return fmt.Sprintf("The body is %s, wanted %s.", brief(body), brief(*want.Body))
	}
	for _, name := range slices.Sorted(maps.Keys(want.Vars)) {
		if !value.Equal(want.Vars[name], vars[name]) {
			return fmt.Sprintf("The variable %s is %s, wanted %s.", name, brief(vars[name]), brief(want.Vars[name]))
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
		return fmt.Sprintf("The error is %s, wanted %s in it.", sluice.Quote(e.Message), sluice.Quote(message))
	}
	return ""
}

func (t *trial) compareCalls() string {
	if t.Expect.Calls == nil {
		return ""
	}
	for i, want := range t.Expect.Calls {
		if i >= len(t.calls) {
			return fmt.Sprintf("Call %d is missing: %s was wanted. Calls: %s.", i+1, want.Command, t.callNames())
		}
		made := t.calls[i]
		if made.command != want.Command {
			return fmt.Sprintf("Call %d is %s, wanted %s.", i+1, made.command, want.Command)
		}
		for _, name := range slices.Sorted(maps.Keys(want.Params)) {
			if !within(want.Params[name], made.args[name]) {
				return fmt.Sprintf("Call %d, %s: %s is %s, wanted %s.", i+1, made.command, name, brief(made.args[name]), brief(want.Params[name]))
			}
		}
	}
	if len(t.calls) > len(t.Expect.Calls) {
		return fmt.Sprintf("There are %d calls, wanted %d: %s.", len(t.calls), len(t.Expect.Calls), t.callNames())
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
	return strings.Join(names, ", ")
}

// within reports whether a value is the wanted one. Its objects may have more fields.
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
