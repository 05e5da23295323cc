package sluice

import (
	_ "embed"
	"sync"
)

// A Resource is a sort of thing that people list, store and delete by commands of the
// same shape: on pages, on the command line and in files. Each is an entry of resources.json.
type Resource struct {
	Name   string // of one
	Key    string // parameter and field with the name of a thing
	Page   string // of the portal; "" means that there is none
	Get    string // commands
	Put    string // "" means that there is none
	Remove string // "" means that there is none
	Effect string // of a deletion
}

//go:embed resources.json
var resourceTable []byte

var resources = sync.OnceValue(func() []Resource { return table[[]Resource](resourceTable) })

// ResourceNamed returns the resource of a name. It panics if there is none, since that is
// a mistake in the program.
func ResourceNamed(name string) Resource {
	for _, r := range resources() {
		if r.Name == name {
			return r
		}
	}
	panic("there is no resource " + name)
}

// ResourceOf returns the resource whose commands have a prefix, an empty one if there is none.
func ResourceOf(commands string) (found Resource) {
	for _, r := range resources() {
		if r.Get == commands+".get" {
			found = r
		}
	}
	return found
}
