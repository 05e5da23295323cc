package portal

import (
	"fmt"
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

type kindCell struct{ Title, Text string }

func (p *Portal) kindList(w http.ResponseWriter, r *http.Request, k *kind) error {
	query := r.URL.Query()
	things, next, err := fetch[[]map[string]any](p, r, k.get, args("search", query.Get("search"), "after", query.Get("after"), "limit", pageSize))
	if err != nil {
		return err
	}
	view := kindList{
		kind: k, Path: k.path, Columns: k.columns, Search: query.Get("search"), Next: p.nextPage(r, next),
		MayPut: p.may(sluice.UserFrom(r.Context()), k.put),
	}
	for _, thing := range things {
		item := kindItem{Name: text(thing[k.Key])}
		for _, c := range k.columns {
			item.Cells = append(item.Cells, kindCell{c.Title, cell(thing[c.Name])})
		}
		view.Items = append(view.Items, item)
	}
	return p.render(w, r, http.StatusOK, "kind_list", k.Title, view)
}

// cell returns a value of a list for people.
func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		return strings.Join(strs(v), ", ")
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return ago(at)
		}
		return v
	default:
		return fmt.Sprint(v)
	}
}
