package sluice

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// EventPrefix and the key of an event make its key as a message: a message
// whose key begins with it is an event.
const EventPrefix = "svc.event."

// maxKey is the length of the longest key of an event or a message.
const maxKey = 200

// MaxType is the length of the longest kind of an event, in bytes.
const MaxType = 200

// TypeRule says in words what selects kinds of events.
const TypeRule = "a kind of events of at most 200 bytes, such as push; * at its end stands for the rest"

// CheckType refuses a pattern that fits no kind of events. Empty, it stands for any.
func CheckType(pattern string) error {
	if len(pattern) > MaxType || !utf8.ValidString(pattern) || strings.Contains(strings.TrimSuffix(pattern, "*"), "*") {
		return InvalidParameter("type", "The parameter type must be %s.", TypeRule)
	}
	return nil
}

// TypeMatches reports whether a pattern fits a kind of events: it is that kind, or its beginning
// with * behind it.
func TypeMatches(pattern, kind string) bool {
	start, open := strings.CutSuffix(pattern, "*")
	return pattern == kind || open && strings.HasPrefix(kind, start)
}

// HasType reports whether one of the patterns fits a kind of events. None fit any.
func HasType(patterns []string, kind string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return TypeMatches(p, kind) })
}

var (
	validKey     = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	validPattern = regexp.MustCompile(`^([A-Za-z0-9_-]+|\*)(\.([A-Za-z0-9_-]+|\*))*(\.#)?$`)
)

// internalPrefix begins the keys of events that the server itself makes.
const internalPrefix = "sluice."

// KeyRule says in words what a key is.
const KeyRule = "1 to 200 letters, digits, _ and -, in groups joined by dots"

// ValidKey reports whether a text can be the key of an event or a message.
func ValidKey(key string) bool { return len(key) <= maxKey && validKey.MatchString(key) }

// ValidPattern reports whether a text can be a pattern of keys: a key in which
// * stands for one group, and # at the end for any number of groups.
func ValidPattern(pattern string) bool {
	return pattern == "#" || len(pattern) <= maxKey && validPattern.MatchString(pattern)
}

// IsInternalKey reports whether only the server itself makes events with a key.
func IsInternalKey(key string) bool { return strings.HasPrefix(key, internalPrefix) }

// KeyMatches reports whether a pattern fits a key.
func KeyMatches(pattern, key string) bool {
	for {
		p, morePattern, hasPattern := strings.Cut(pattern, ".")
		if p == "#" {
			return true
		}
		k, moreKey, hasKey := strings.Cut(key, ".")
		if p != "*" && p != k {
			return false
		}
		if !hasPattern || !hasKey {
			return hasPattern == hasKey || !hasKey && morePattern == "#"
		}
		pattern, key = morePattern, moreKey
	}
}
