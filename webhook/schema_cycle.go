package webhook

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// endless finds a schema that leads back to itself without going any deeper into
// the payload, such as one that refers to itself: nothing could ever meet it. One
// that leads back to itself for a member or an item is fine, since payloads end.
// It returns that schema, nil if there is none.
func endless(s *jsonschema.Schema, way []*jsonschema.Schema, done map[*jsonschema.Schema]bool) *jsonschema.Schema {
	if slices.Contains(way, s) {
		return s
	}
	if done[s] {
		return nil
	}
	for _, next := range sameValue(s) {
		if found := endless(next, append(way, s), done); found != nil {
			return found
		}
	}
	done[s] = true
	return nil
}

// sameValue returns the schemas that a schema tries on the very value that it is
// tried on itself.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	for _, dependent := range s.DependentSchemas {
		all = append(all, dependent)
	}
	for _, dependency := range s.Dependencies {
		if dependent, ok := dependency.(*jsonschema.Schema); ok {
			all = append(all, dependent)
		}
	}
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// placeOf returns where a schema is within the whole.
func placeOf(s *jsonschema.Schema) string {
	_, pointer, _ := strings.Cut(s.Location, "#")
	return place(pointer)
}
