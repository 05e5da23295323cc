package administration

import (
	"sluice/command"
	"sluice/portal/page"
)

type resourceList struct {
	*resource

	Items  any // views, as the command shows them
	Search string
	Next   string
	visit  *page.Visit
}

// InWords describes what a role allows.
func (l resourceList) InWords(permissions []string) string { return InWords(l.visit, permissions) }

func resourceListPage(v *page.Visit, res *resource) error {
	view := resourceList{resource: res, Search: v.Query("search"), visit: v}
	found, err := page.Try[command.Paged](v, res.Get, "search", view.Search, "after", v.Query("after"),
		"limit", page.Size)
	if err != nil {
		return err
	}
	items, next := found.Page()
	view.Items, view.Next = items, v.Next(next)
	return v.Show("resource_list", res.Title, view)
}
