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
	Done   string // a message about what was just done
	Alerts []Alert
	Counts map[string]int // of what waits to be looked at, by the paths of pages
	Data   any            // the view of the page
}

// done holds the messages about what was done on the previous page.
var done = map[string]string{
	"added":      "Made. Copy the new URL, and enter it at the sender.",
	"created":    "Created.",
	"muted":      "Done: as long as it is muted, nothing is sent of it.",
	"paused":     "Paused: events wait, nothing is lost.",
	"resumed":    "Resumed: events that waited are run now.",
	"saved":      "Saved.",
	"secret":     "The signing secret is stored.",
	"deleted":    "Deleted.",
	"replayed":   "Replayed: this is the new call.",
	"erased":     "Erased: its payload, headers and results are gone.",
	"retried":    "Tried now: the result is below as soon as it is there.",
	"sent":       "Sent: this is the new call.",
	"rolledback": "Rolled back: the earlier source is stored again.",
	"last":       "There is no further call of this webhook in that direction.",
}

// Show answers with a page, by the template of that name.
func (v *Visit) Show(name, title string, data any) error {
	template, err := v.template(name)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	alerts, counts := v.alerts()
	filled := &view{v, title, done[v.Query("done")], alerts, counts, data}
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
