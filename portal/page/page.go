package page

import (
	"bytes"
	"cmp"
	"net/http"

	"sluice"
)

// A view is what the templates get.
type view struct {
	*Visit

	Title  string
	Alerts []Alert
	Counts map[string]int // of what waits to be looked at, by the paths of pages
	Data   any            // the view of the page
}

// Show answers with a page, by the template of that name.
func (v *Visit) Show(name, title string, data any) error {
	template, err := v.template(name)
	if err = cmp.Or(v.failed, err); err != nil {
		return err
	}
	var content bytes.Buffer
	alerts, counts := v.alerts()
	filled := &view{v, title, alerts, counts, data}
	if err := template.ExecuteTemplate(&content, "layout", filled); err != nil {
		return err
	}
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.W.WriteHeader(cmp.Or(v.Status, http.StatusOK))
	_, _ = v.W.Write(content.Bytes()) // an error means that the browser has gone
	return nil
}

// Asset returns the path of a file in static.
func (s *view) Asset(name string) string { return assets().path(name) }

// callRows are the calls of a list.
type callRows struct {
	Base  string
	Items []sluice.CallView
	Ticks bool // each has a checkbox
}

// Rows returns calls for the template of lists.
func (s *view) Rows(items []sluice.CallView, ticks bool) callRows {
	return callRows{s.Base, items, ticks}
}

// With returns the page with other data, for a template within a template.
func (s *view) With(data any) *view {
	with := *s
	with.Data = data
	return &with
}
