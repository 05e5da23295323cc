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
	changes  uint64                // how many it includes
	exact    map[string][]string   // names by key, of those that take every kind
	choosy   map[string][]listener // likewise, of those that name kinds
	patterns []listener            // of keys
}

type listener struct {
	pattern, name string
	types         []string
}

// NewListeners returns the listeners among the stored pipelines.
func NewListeners(pipelines *record.Bucket[sluice.Pipeline]) *Listeners {
	l := &Listeners{pipelines: pipelines}
	l.current.Store(new(listening))
	pipelines.Follow(func(_, _ *sluice.Pipeline) { l.changes.Add(1) })
	return l
}

// Of returns the names of the pipelines that listen to events of a kind with that key, sorted.
// The list must not be changed.
func (l *Listeners) Of(key, kind string) []string {
	now := l.current.Load()
	if now.changes != l.changes.Load() {
		now = l.collect()
	}
	all := now.exact[key]
	names := slices.Clip(all)
	for _, some := range [][]listener{now.choosy[key], now.patterns} {
		for i := range some {
			if sluice.KeyMatches(some[i].pattern, key) && sluice.HasType(some[i].types, kind) {
				names = append(names, some[i].name)
			}
		}
	}
	if len(names) > len(all) {
		slices.Sort(names)
	}
	return names
}

func (l *Listeners) collect() *listening {
	// Counted first, so that what changes meanwhile is collected again.
	now := &listening{
		changes: l.changes.Load(), exact: make(map[string][]string), choosy: make(map[string][]listener),
	}
	for _, p := range l.pipelines.All() {
		b := p.Binding
		switch {
		case b == nil:
		case strings.ContainsAny(b.Pattern, "*#"):
			now.patterns = append(now.patterns, listener{b.Pattern, p.Name, b.Types})
		case b.Types != nil:
			now.choosy[b.Pattern] = append(now.choosy[b.Pattern], listener{b.Pattern, p.Name, b.Types})
		default:
			now.exact[b.Pattern] = append(now.exact[b.Pattern], p.Name)
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
		if p.Binding != nil && e.Sequence >= p.Binding.Start && reaches(p.Binding, e.Subject) &&
			sluice.HasType(p.Binding.Types, e.Type) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}
