package queue

import (
	"strings"

	"sluice"
	"sluice/jetstream/stream"
)

// SubjectOf returns the subject that a message key is stored under.
func SubjectOf(key string) string {
	if strings.HasPrefix(key, sluice.EventPrefix) {
		return key
	}
	return stream.MessagePrefix + key
}

// subjectsOf returns the subjects that together hold all keys of a pattern.
func subjectsOf(pattern string) []string {
	if strings.HasPrefix(pattern, sluice.EventPrefix) {
		return Wildcards(pattern)
	}
	subjects := Wildcards(stream.MessagePrefix + pattern)
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
	return append(subjects, Wildcards(sluice.EventPrefix+strings.Join(groups[2:], "."))...)
}

// Wildcards translates a pattern to the engine's. There > stands for one group or more,
// here # for any number.
func Wildcards(pattern string) []string {
	prefix, many := strings.CutSuffix(pattern, ".#")
	switch {
	case !many:
		return []string{pattern}
	case prefix+"." == stream.MessagePrefix || prefix+"." == sluice.EventPrefix:
		return []string{prefix + ".>"}
	}
	return []string{prefix, prefix + ".>"}
}

// reaches reports whether a binding takes events of a subject.
func reaches(binding *sluice.Binding, subject string) bool {
	if strings.HasPrefix(subject, stream.DirectPrefix) {
		return subject == stream.DirectPrefix+binding.ID
	}
	return sluice.KeyMatches(binding.Pattern, strings.TrimPrefix(subject, stream.MessagePrefix))
}
