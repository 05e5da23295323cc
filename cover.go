package sluice

import (
	"maps"
	"slices"
	"strings"
)

// A Cover is the part of all names that a user has a permission for. The zero value is
// everything.
type Cover struct {
	parts []map[string]bool // prefixes; a name must be in each part
	self  string            // the user, who may see the runs of sources that they have not stored
}

// Whole reports whether the cover is everything.
func (c Cover) Whole() bool { return len(c.parts) == 0 }

// Name reports whether a pipeline or a secret is covered.
func (c Cover) Name(name string) bool {
	return !slices.ContainsFunc(c.parts, func(prefixes map[string]bool) bool { return !hasPrefixOf(prefixes, name) })
}

func hasPrefixOf(prefixes map[string]bool, name string) bool {
	for end := range len(name) {
		if name[end] == '.' && prefixes[name[:end]] {
			return true
		}
	}
	return prefixes[name]
}

// String returns the cover for people.
func (c Cover) String() string {
	if c.Whole() {
		return "everything"
	}
	var parts []string
	for _, prefixes := range c.parts {
		parts = append(parts, strings.Join(slices.Sorted(maps.Keys(prefixes)), ", "))
	}
	return strings.Join(parts, " and ")
}

// Within reports whether all that is covered is covered by another as well.
func (c Cover) Within(other Cover) bool {
	for _, prefixes := range other.parts {
		if !slices.ContainsFunc(c.parts, func(mine map[string]bool) bool {
			for prefix := range mine {
				if !hasPrefixOf(prefixes, prefix) {
					return false
				}
			}
			return true
		}) {
			return false
		}
	}
	return true
}

// And returns what both cover.
func (c Cover) And(other Cover) Cover { return Cover{slices.Concat(c.parts, other.parts), c.self} }

// WebhookPrefix is what event keys begin with by convention. Scopes are written without it.
const WebhookPrefix = "webhook."

// Event reports whether an event key, or all keys that a pattern matches, are covered.
// Events about alerts are covered by what each is about, see Cover.Alert, and those of a
// schedule by their pipeline.
func (c Cover) Event(key string) bool {
	if pipeline, scheduled := strings.CutPrefix(key, SchedulePrefix); scheduled {
		return c.Name(pipeline)
	}
	return c.Name(strings.TrimPrefix(key, WebhookPrefix))
}

// Message reports whether a message key, or all keys that a pattern matches, are covered.
func (c Cover) Message(key string) bool {
	if event, ok := strings.CutPrefix(key, EventPrefix); ok {
		return c.Event(event)
	}
	return c.Name(key)
}

// Alert reports whether an alert is covered. Those that are about the server are covered
// by everything only.
func (c Cover) Alert(kind AlertKind, subject string) bool {
	if kind.AboutPipeline() {
		return c.Name(subject)
	}
	return c.Whole() || kind.AboutWebhook() && c.Event(subject)
}
