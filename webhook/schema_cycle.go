package webhook

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// endless returns a schema that leads back to itself without going deeper into the
// payload, such as one that refers to itself; nil if there is none. Checking it would
// never end. A schema may lead back to itself for a member or an item, since payloads
// end.
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

// sameValue returns the schemas that a schema applies to the same value as itself.
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

// locationOf returns where a schema stands within the whole.
func locationOf(s *jsonschema.Schema) string {
	_, pointer, _ := strings.Cut(s.Location, "#")
	return shownPointer(pointer)
}
