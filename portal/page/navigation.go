package page

import (
	_ "embed"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A Link leads to a page that needs the permission for a command.
type Link struct {
	Name    string
	Path    string
	Icon    string
	Command string // "" if anyone may see the page
	Ours    bool   // it is about our own users: an external provider replaces them
}

// A section is a group of links in the navigation.
type section struct {
	Title string
	Links []Link
}

//go:embed navigation.yaml
var navigation string

// Decode reads a table of texts, which is a YAML file in the program.
func Decode(source string, table any) {
	if err := yaml.Unmarshal([]byte(source), table); err != nil {
		panic(err)
	}
}

var sections = sync.OnceValue(func() (all []section) {
	Decode(navigation, &all)
	return all
})

// Sections returns the navigation with the pages that the user may see.
func (s *view) Sections() (visible []section) {
	for _, group := range sections() {
		group.Links = slices.DeleteFunc(slices.Clone(group.Links), func(l Link) bool {
			return l.Command != "" && !s.May(l.Command) || l.Ours && s.Provider != nil
		})
		if len(group.Links) > 0 {
			visible = append(visible, group)
		}
	}
	return visible
}

// Section returns the Link of the navigation that the page is below, or nil.
func (s *view) Section() *Link {
	for _, group := range s.Sections() {
		for _, l := range group.Links {
			if path := s.R.URL.Path; within(path, l.Path) && path != l.Path {
				return &l
			}
		}
	}
	return nil
}
