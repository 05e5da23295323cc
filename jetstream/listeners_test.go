package jetstream

import (
	"slices"
	"testing"

	"sluice"
)

func TestListeners(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	store := func(name, pattern string) {
		t.Helper()
		_, err := e.Pipelines.Change(t.Context(), name, func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
			return &sluice.Pipeline{Name: name, Binding: &sluice.Binding{Pattern: pattern}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(key string, names ...string) {
		t.Helper()
		if got := e.Stored.listeners.Of(key); !slices.Equal(got, names) {
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
