package queue

import (
	"strings"
	"testing"
)

func TestSubjectsOfPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"svc.event.a.b": "svc.event.a.b",
		"svc.event.a.*": "svc.event.a.*",
		"svc.event.a.#": "svc.event.a svc.event.a.>",
		"svc.event.#":   "svc.event.>",
		"a.b":           "svc.message.a.b",
		"a.#":           "svc.message.a svc.message.a.>",
		"#":             "svc.message.> svc.event.>",
		"*":             "svc.message.*",
		"*.*":           "svc.message.*.*",
		"*.event.x":     "svc.message.*.event.x svc.event.x",
		"svc.*.x.#":     "svc.message.svc.*.x svc.message.svc.*.x.> svc.event.x svc.event.x.>",
		"svc.#":         "svc.message.svc svc.message.svc.> svc.event.>",
		"*.a.x":         "svc.message.*.a.x",
	} {
		if got := strings.Join(subjectsOf(pattern), " "); got != want {
			t.Errorf("%s is %q, want %q", pattern, got, want)
		}
	}
}
