package portal

import (
	"net/http"
	"strings"
	"time"

	"sluice"
)

// A kindList is the page that lists things of a kind.
type kindList struct {
	*kind

	Path    string
	Columns []column
	Items   []kindItem
	Search  string
	Next    string
	MayPut  bool
}

// A kindItem is one line of such a list.
type kindItem struct {
	Name  string
	Cells []kindCell
}

// A kindCell is a value for people: a time if there is one, otherwise a text,
// which may need attention.
type kindCell struct {
	Title, Text string
	Time        time.Time
	Bad         bool
	Class       string // of the cell of a list
}

func (p *Portal) kindList(w http.ResponseWriter, r *http.Request, k *kind) error {
	query := r.URL.Query()
	things, next, err := read[[]map[string]any](p, r, k.Get, args("search", query.Get("search"), "after", query.Get("after"), "limit", pageSize))
	if err != nil {
		return err
	}
	view := kindList{
		kind: k, Path: k.Page, Columns: k.columns, Search: query.Get("search"), Next: p.nextPage(r, next),
		MayPut: p.may(sluice.UserFrom(r.Context()), k.Put),
	}
	for _, thing := range things {
		item := kindItem{Name: text(thing[k.Key])}
		for _, c := range k.columns {
			item.Cells = append(item.Cells, p.cell(c, thing))
		}
		view.Items = append(view.Items, item)
	}
	return p.render(w, r, http.StatusOK, "kind_list", k.Title, view)
}

// cell returns a field of a thing for people.
func (p *Portal) cell(c column, thing map[string]any) kindCell {
	shown := kindCell{Title: c.Title}
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
		case thing["updated"] == nil: // it is always there
			shown.Text = "–"
		default:
			shown.Text = "never"
		}
	default:
		shown.Class = "break"
		shown.Text = strings.Join(strs(value), ", ")
		if shown.Text == "" {
			shown.Text = "none"
		}
	}
	return shown
}
