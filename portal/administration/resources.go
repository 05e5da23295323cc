package administration

import (
	_ "embed"

	"sluice"
	"sluice/portal/page"
)

// A resource is a sort of thing that people list, create, edit and delete.
type resource struct {
	sluice.Resource `yaml:",inline"`

	Title    string
	About    string
	Empty    string           // shown if there are none
	Constant string           `yaml:"fixed"` // the one that can't be changed
	Renews   bool             // its secret can be renewed
	Used     bool             // it is known when one was last used
	Forced   bool             // deleting needs force if something uses it
	Actor    string           // format of its name in the audit log; "" if it does nothing itself
	Words    map[string]words `yaml:"fields"` // by the names of fields
}

// One returns the word for one of them. Pages have a Name of their own.
func (res *resource) One() string { return res.Name }

// words replace the command's description of a field.
type words struct {
	Label, Help string
	Off, On     string // labels of false and true
	Choices     []page.Choice
}

//go:embed resources.yaml
var resourceTable string

// resources returns what administrators manage.
func resources() (all []*resource) {
	page.Decode(resourceTable, &all)
	for _, res := range all {
		res.Resource = sluice.ResourceNamed(res.Name)
	}
	return all
}
