package administration

import (
	"sluice/command"
	"sluice/portal/page"
)

type resourceList struct {
	*resource

	Items any // views, as the command shows them
	Next  string
	visit *page.Visit
}

// InWords describes what a role allows.
func (l resourceList) InWords(permissions []string) string { return InWords(l.visit, permissions) }

func resourceListPage(v *page.Visit, res *resource) error {
	found, err := page.Try[command.Paged](v, res.Get, v.Asked("search"))
	if err != nil {
		return err
	}
	items, next := found.Page()
	return v.Show("resource_list", res.Title, resourceList{res, items, v.Next(next), v})
}
