package jetstream

import (
	"slices"
	"strings"
	"testing"

	"sluice"
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

func TestListeners(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	store := func(name, pattern string) {
		t.Helper()
		_, err := e.Pipelines().Change(t.Context(), name, func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
			return &sluice.Pipeline{Name: name, Binding: &sluice.Binding{Pattern: pattern}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(key string, names ...string) {
		t.Helper()
		if got := e.events.listeners.of(key); !slices.Equal(got, names) {
			t.Errorf("%s is listened to by %v, want %v", key, got, names)
		}
	}
	want("svc.event.a")
	store("z", "svc.event.a")
	store("b", "svc.event.a")
	want("svc.event.a", "b", "z")
	store("m", "svc.event.*")
	want("svc.event.a", "b", "m", "z")
	want("svc.event.c", "m")
	want("other")
	store("z", "other")
	want("svc.event.a", "b", "m")
	want("other", "z")
}
