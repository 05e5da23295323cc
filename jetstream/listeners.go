package jetstream

import (
	"slices"
	"strings"
	"sync/atomic"

	"sluice"
)

// Subjects of the stream of events beside those of events themselves, which are
// their message keys.
const (
	messagePrefix = "svc.message." // before the key of a message that is no event
	directPrefix  = "svc.direct."  // before the binding of the one pipeline an event is for
)

// subjectOf gives the subject that a message key is stored under.
func subjectOf(key string) string {
	if strings.HasPrefix(key, sluice.EventPrefix) {
		return key
	}
	return messagePrefix + key
}

// subjectsOf gives the subjects that together hold all keys of a pattern.
func subjectsOf(pattern string) []string {
	if strings.HasPrefix(pattern, sluice.EventPrefix) {
		return wildcards(pattern)
	}
	subjects := wildcards(messagePrefix + pattern)
	// A pattern may fit events as well: if its first two groups fit svc.event.
	groups := strings.Split(pattern, ".")
	for i, fixed := range []string{"svc", "event"} {
		switch {
		case i == len(groups):
			return subjects
		case groups[i] == "#":
			return append(subjects, sluice.EventPrefix+">")
		case groups[i] != "*" && groups[i] != fixed:
			return subjects
		}
	}
	if len(groups) == 2 {
		return subjects
	}
	return append(subjects, wildcards(sluice.EventPrefix+strings.Join(groups[2:], "."))...)
}

// wildcards writes a pattern as the engine does. Its > stands for one group or
// more, ours for any number.
func wildcards(pattern string) []string {
	prefix, open := strings.CutSuffix(pattern, ".#")
	switch {
	case !open:
		return []string{pattern}
	case prefix+"." == messagePrefix || prefix+"." == sluice.EventPrefix:
		return []string{prefix + ".>"}
	}
	return []string{prefix, prefix + ".>"}
}

// listeners knows which pipelines listen to which keys.
type listeners struct {
	pipelines *bucket[sluice.Pipeline]
	current   atomic.Pointer[listening] // nil after a change
}

// listening is a state of the listeners.
type listening struct {
	exact    map[string][]string // names by key
	patterns []namedPattern
}

type namedPattern struct{ pattern, name string }

func newListeners(pipelines *bucket[sluice.Pipeline]) *listeners {
	l := &listeners{pipelines: pipelines}
	// Under the same lock as now, so that no change is missed.
	pipelines.follow = func(_, _ *sluice.Pipeline) { l.current.Store(nil) }
	return l
}

// of gives the names of the pipelines that listen to a key, in their order. The
// list must not be changed.
func (l *listeners) of(key string) []string {
	now := l.current.Load()
	if now == nil {
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

func (l *listeners) collect() *listening {
	l.pipelines.mu.RLock()
	defer l.pipelines.mu.RUnlock()
	now := &listening{exact: make(map[string][]string)}
	for _, p := range l.pipelines.records {
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

// binding gives the binding of a pipeline, nil if it has none.
func (l *listeners) binding(name string) *sluice.Binding {
	if p := l.pipelines.copied(encodeKey(name)); p != nil {
		return p.Binding
	}
	return nil
}

// bound gives the names of the pipelines that listen, by their bindings.
func (l *listeners) bound() map[string]string {
	l.pipelines.mu.RLock()
	defer l.pipelines.mu.RUnlock()
	names := make(map[string]string)
	for _, p := range l.pipelines.records {
		if p.Binding != nil {
			names[p.Binding.ID] = p.Name
		}
	}
	return names
}
