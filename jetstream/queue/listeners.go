package queue

import (
	"slices"
	"strings"
	"sync/atomic"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/record"
)

// Listeners knows which pipelines listen to which keys.
type Listeners struct {
	pipelines *record.Bucket[sluice.Pipeline]
	changes   atomic.Uint64 // of the pipelines so far
	current   atomic.Pointer[listening]
}

// listening is a state of the listeners.
type listening struct {
	changes  uint64              // how many it includes
	exact    map[string][]string // names by key
	patterns []namedPattern
}

type namedPattern struct{ pattern, name string }

// NewListeners returns the listeners among the stored pipelines.
func NewListeners(pipelines *record.Bucket[sluice.Pipeline]) *Listeners {
	l := &Listeners{pipelines: pipelines}
	l.current.Store(new(listening))
	pipelines.Follow(func(_, _ *sluice.Pipeline) { l.changes.Add(1) })
	return l
}

// Of returns the names of the pipelines that listen to a key, sorted.
// The list must not be changed.
func (l *Listeners) Of(key string) []string {
	now := l.current.Load()
	if now.changes != l.changes.Load() {
		now = l.collect()
	}
	names := now.exact[key]
	for i, p := range now.patterns {
		if i == 0 {
			names = slices.Clone(names)
		}
		if sluice.KeyMatches(p.pattern, key) {
			names = append(names, p.name)
		}
	}
	if len(now.patterns) > 0 {
		slices.Sort(names)
	}
	return names
}

func (l *Listeners) collect() *listening {
	// Counted first, so that what changes meanwhile is collected again.
	now := &listening{changes: l.changes.Load(), exact: make(map[string][]string)}
	for _, p := range l.pipelines.All() {
		switch {
		case p.Binding == nil:
		case strings.ContainsAny(p.Binding.Pattern, "*#"):
			now.patterns = append(now.patterns, namedPattern{p.Binding.Pattern, p.Name})
		default:
			now.exact[p.Binding.Pattern] = append(now.exact[p.Binding.Pattern], p.Name)
		}
	}
	for _, names := range now.exact {
		slices.Sort(names)
	}
	l.current.Store(now)
	return now
}

// Binding returns the binding of a pipeline, nil if it has none.
func (l *Listeners) Binding(name string) *sluice.Binding {
	if p := l.pipelines.Copy(name); p != nil {
		return p.Binding
	}
	return nil
}

// Bound returns the pipelines that listen, by the ids of their bindings.
func (l *Listeners) Bound() map[string]*sluice.Pipeline {
	bound := make(map[string]*sluice.Pipeline)
	for _, p := range l.pipelines.All() {
		if p.Binding != nil {
			bound[p.Binding.ID] = p
		}
	}
	return bound
}

// Receivers returns the names of the pipelines that take an event that does not name its
// listeners.
func (l *Listeners) Receivers(e correlation.Envelope) (names []string) {
	for _, p := range l.pipelines.All() {
		if p.Binding != nil && e.Sequence >= p.Binding.Start && reaches(p.Binding, e.Subject) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}
