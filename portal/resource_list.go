package portal

import (
	"cmp"
	"net/http"
	"strings"
	"time"
)

// A resourceList is the page that lists a resource.
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
	Cells []resourceCell
}

func (p *Portal) resourceList(w http.ResponseWriter, r *http.Request, res *resource) error {
	query := r.URL.Query()
	things, next, err := read[[]map[string]any](p, r, res.Get, args("search", query.Get("search"), "after", query.Get("after"), "limit", pageSize))
	if err != nil {
		return err
	}
	view := resourceList{
		resource: res, Search: query.Get("search"), Next: p.nextPage(r, next), MayPut: p.allows(r, res.Put),
	}
	for _, thing := range things {
		item := resourceItem{Name: text(thing[res.Key])}
		for _, c := range res.Columns {
			item.Cells = append(item.Cells, p.cell(c, thing))
		}
		view.Items = append(view.Items, item)
	}
	return p.render(w, r, http.StatusOK, "resource_list", res.Title, view)
}

// cell returns a field of a thing as people read it.
func (p *Portal) cell(c column, thing map[string]any) resourceCell {
	shown := resourceCell{Title: c.Title}
	switch value := thing[c.Name]; c.Name {
	case "disabled":
		shown.Bad, shown.Class = value == true, "state"
		shown.Text = map[bool]string{true: "disabled", false: "active"}[shown.Bad]
	case "permissions":
		shown.Class = "break"
		shown.Text = p.inWords(strs(value))
	case "builtIn":
		shown.Text = map[string]string{"unchanged": "built in", "changed": "built in, changed", "": "your own"}[text(value)]
	case "created", "updated", "lastUsed":
		at, err := time.Parse(time.RFC3339, text(value))
		switch {
		case err == nil:
			shown.Time = at
		case thing["updated"] == nil: // built in, so never stored
			shown.Text = "–"
		default:
			shown.Text = "never"
		}
	case "scope":
		shown.Class = "break"
		shown.Text = cmp.Or(strings.Join(strs(value), ", "), "everything")
	default:
		shown.Class = "break"
		shown.Text = cmp.Or(strings.Join(strs(value), ", "), "none")
	}
	return shown
}
