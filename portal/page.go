package portal

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"sluice"
	"sluice/problem"
)

//go:embed pages
var pages embed.FS

// A page is what the template of every page gets.
type page struct {
	portal *Portal

	Title     string
	Base      string // precedes every path
	Path      string
	Username  string // empty: nobody is signed in
	Roles     string
	Namespace string
	Version   string
	Done      string // what has just been done
	Alerts    []alert
	Data      any

	user sluice.User
}

// done are the messages about what was done on the previous page.
var done = map[string]string{
	"created":    "Created.",
	"paused":     "Paused: events wait, nothing is lost.",
	"resumed":    "Resumed: events that waited are run now.",
	"saved":      "Saved.",
	"secret":     "The signing secret is stored.",
	"deleted":    "Deleted.",
	"replayed":   "Replayed: this is the new call.",
	"sent":       "Sent: this is the new call.",
	"rolledback": "Rolled back: the earlier source is stored again.",
	"last":       "There is no further call of this webhook in that direction.",
}

// templates are those of all pages, each with the layout and the parts that pages
// share. They are parsed when the first page is shown: a start does not wait for it.
// One that can't work makes that panic, since it is a mistake in the program.
var templates = sync.OnceValue(func() map[string]*template.Template {
	shared := template.Must(template.New("layout").Funcs(functions).ParseFS(pages, "pages/layout.html", "pages/parts.html", "pages/plots.html"))
	files, err := fs.Glob(pages, "pages/*.html")
	if err != nil {
		panic(err)
	}
	parsed := make(map[string]*template.Template)
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		parsed[name] = template.Must(template.Must(shared.Clone()).ParseFS(pages, file))
	}
	return parsed
})

// render writes a page.
func (p *Portal) render(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) error {
	user := sluice.UserFrom(r.Context())
	shown := &page{
		portal: p, user: user,
		Title: title, Base: p.base, Path: r.URL.Path,
		Username: user.Name, Roles: strings.Join(user.Roles, ", "),
		Namespace: p.Namespace, Version: p.Version,
		Done: done[r.URL.Query().Get("done")], Alerts: p.alerts(r), Data: data,
	}
	var content bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&content, "layout", shown); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(content.Bytes()) // an error means that the browser has gone
	return nil
}

// Styles returns where the styles of the pages are.
func (s *page) Styles() []string {
	return []string{assets().path("portal.css"), assets().path("lists.css")}
}

// Scripts returns where the scripts of the pages are, in the order in which
// they run.
func (s *page) Scripts() []string {
	return []string{assets().path("portal.js"), assets().path("lists.js"), assets().path("live.js")}
}

// Asset returns where a file is loaded from.
func (s *page) Asset(name string) string { return assets().path(name) }

// Saved reports whether the page follows a save.
func (s *page) Saved() bool { return s.Done == done["saved"] }

// Replaced reports whether the page follows a change of what it is about.
func (s *page) Replaced() bool { return s.Saved() || s.Done == done["rolledback"] }

// Limits returns on how many past calls a draft can be tried.
func (s *page) Limits() []string { return []string{"20", "100", "500"} }

// May reports whether the user of the page may run a command.
func (s *page) May(name string) bool { return s.portal.may(s.user, name) }

// MayTry reports whether the user of the page may try drafts on past calls.
func (s *page) MayTry() bool { return s.portal.mayTry(s.user) }

// A callRow is a call in a list, with the way to its page.
type callRow struct {
	tracedCall

	Link string
}

// callRows are the calls of a list.
type callRows struct {
	Items []callRow
	Ticks bool // they can be ticked
}

// Rows returns calls as lists show them.
func (s *page) Rows(items []tracedCall, ticks bool) callRows {
	rows := make([]callRow, len(items))
	for i, c := range items {
		rows[i] = callRow{c, s.Base + "/calls/" + url.PathEscape(c.TraceID)}
	}
	return callRows{rows, ticks}
}

// A failure is the page of an error.
type failure struct {
	sluice.Problem

	Code string
}

// fail answers with a page that says what went wrong.
func (p *Portal) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := sluice.AsError(err)
	shown := problem.Of(e)
	if shown.Status >= http.StatusInternalServerError && e.Err != nil {
		p.Log.Error("A page failed.", "path", r.URL.Path, "code", e.Code, "error", e.Err)
	}
	problem.SetHeaders(w.Header(), r, e)
	w.Header().Del("WWW-Authenticate") // the browser would ask for a password itself
	if err := p.render(w, r, shown.Status, "error", shown.Title, failure{*shown, e.Code}); err != nil {
		p.Log.Error("The page of an error failed.", "error", err)
		http.Error(w, shown.Detail, shown.Status)
	}
}

// redirect sends the browser to a path of the portal.
func (p *Portal) redirect(w http.ResponseWriter, r *http.Request, target string) {
	http.Redirect(w, r, p.base+target, http.StatusSeeOther)
}

const (
	maxSignIn = 16 << 10
	maxForm   = 4 << 20
)

// readForm reads the form of a request.
func readForm(w http.ResponseWriter, r *http.Request, limit int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if err := r.ParseForm(); err != nil {
		return sluice.Errorf(sluice.CodeFormMalformed, "The form could not be read, or is larger than %s.", shownBytes(limit))
	}
	return nil
}

// formText returns a text of a form as it was typed: browsers send every line
// end as two characters.
func formText(r *http.Request, name string) string {
	return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n")
}
