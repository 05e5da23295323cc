package administration

import (
	"cmp"
	"strings"
	"time"

	"sluice/portal/page"
)

type resourceList struct {
	*resource

	Items  []resourceItem
	Search string
	Next   string
	MayPut bool
}

// A resourceItem is a row of the list.
type resourceItem struct {
	Name  string
	Cells []page.Cell
}

func resourceListPage(v *page.Visit, res *resource) error {
	things, next, err := page.Read[[]map[string]any](v, res.Get, "search", v.Query("search"), "after", v.Query("after"),
		"limit", page.Size)
	if err != nil {
		return err
	}
	view := resourceList{
		resource: res, Search: v.Query("search"), Next: v.Next(next), MayPut: v.May(res.Put),
	}
	for _, thing := range things {
		item := resourceItem{Name: text(thing[res.Key])}
		for _, c := range res.Columns {
			item.Cells = append(item.Cells, cellOf(v, c, thing))
		}
		view.Items = append(view.Items, item)
	}
	return v.Show("resource_list", res.Title, view)
}

// cellOf returns a field of a thing as people read it.
func cellOf(v *page.Visit, c column, thing map[string]any) page.Cell {
	cell := page.Cell{Title: c.Title}
	switch value := thing[c.Name]; c.Name {
	case "disabled":
		cell.Bad, cell.Class = value == true, "state"
		cell.Text = map[bool]string{true: "disabled", false: "active"}[cell.Bad]
	case "permissions":
		cell.Class = "break"
		cell.Text = InWords(v, texts(value))
	case "builtIn":
		cell.Text = map[string]string{
			"unchanged": "built in", "changed": "built in, changed", "": "your own",
		}[text(value)]
	case "created", "updated", "lastUsed":
		at, err := time.Parse(time.RFC3339, text(value))
		switch {
		case err == nil:
			cell.Time = at
		case thing["updated"] == nil: // built in, so never stored
			cell.Text = "–"
		default:
			cell.Text = "never"
		}
	case "scope":
		cell.Class = "break"
		cell.Text = cmp.Or(strings.Join(texts(value), ", "), "everything")
	default:
		cell.Class = "break"
		cell.Text = cmp.Or(strings.Join(texts(value), ", "), "none")
	}
	return cell
}
