package portal

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/command"
	"sluice/problem"
	"sluice/wording"
)

// A page is what templates get.
type page struct {
	portal *Portal

	Title     string
	Base      string // prefix of every path
	Path      string
	Username  string // "" if nobody is signed in
	Roles     string
	Namespace string
	Version   string
	Done      string // a message about what was just done
	Demo      bool
	Alerts    []alert
	Data      any

	user sluice.User
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

func (p *Portal) render(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) error {
	user := sluice.UserFrom(r.Context())
	shown := &page{
		portal: p, user: user,
		Title: title, Base: p.base, Path: r.URL.Path,
		Username: user.Name, Roles: strings.Join(user.Roles, ", "),
		Namespace: p.Namespace, Version: p.Version, Demo: p.Demo,
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

// Asset returns the path of a file in static.
func (s *page) Asset(name string) string { return assets().path(name) }

// Saved reports whether the page follows a save.
func (s *page) Saved() bool { return s.Done == done["saved"] }

// Replaced reports whether the page follows a save or a rollback.
func (s *page) Replaced() bool { return s.Saved() || s.Done == done["rolledback"] }

// Limits returns the numbers of past calls that a draft can be tried on.
func (s *page) Limits() []string { return []string{"20", "100", "500"} }

// May reports whether the user of the page may run a command.
func (s *page) May(name string) bool { return s.portal.may(s.user, name) }

// MayTry reports whether the user of the page may try drafts on past calls.
func (s *page) MayTry() bool { return s.portal.mayTry(s.user) }

// callRows are the calls of a list.
type callRows struct {
	Base  string
	Items []tracedCall
	Ticks bool // each has a checkbox
}

// Rows returns calls for the template of lists.
func (s *page) Rows(items []tracedCall, ticks bool) callRows { return callRows{s.Base, items, ticks} }

// With returns the page with other data, for a template within a template.
func (s *page) With(data any) *page {
	with := *s
	with.Data = data
	return &with
}

// A failure is the error page.
type failure struct {
	sluice.Problem

	Code string
}

// Advice says what to do next.
func (f failure) Advice() string {
	switch f.Status {
	case http.StatusForbidden:
		return "Your own page (click your name) says what your roles allow. An administrator can give you another role."
	case http.StatusNotFound:
		return "What you look for may have been deleted or renamed, or the address has a mistake. The lists show what there is."
	case http.StatusConflict, http.StatusPreconditionFailed:
		return "Nothing was changed. Go back, see how things are now, and try again."
	case http.StatusTooManyRequests:
		return "Nothing was changed. Wait for a moment, then reload the page."
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return "Wait for a moment, then reload the page. If that does not help, /readyz and the server’s log tell an operator why."
	}
	if f.Status >= http.StatusInternalServerError {
		return "This is not your mistake. The server’s log tells an operator more; what was accepted before is safe."
	}
	return "Nothing was changed. Go back, change what you entered, and try again."
}

// fail answers with the error page.
func (p *Portal) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := sluice.AsError(err)
	shown := problem.Of(e)
	if shown.Status >= http.StatusInternalServerError && e.Err != nil {
		p.Log.Error("A page failed.", "path", r.URL.Path, "code", e.Code, "error", e.Err)
	}
	problem.SetHeaders(w.Header(), r, e)
	w.Header().Del("WWW-Authenticate") // or the browser asks for a password itself
	if err := p.render(w, r, shown.Status, "error", shown.Title, failure{*shown, e.Code}); err != nil {
		p.Log.Error("The page of an error failed.", "error", err)
		http.Error(w, shown.Detail, shown.Status)
	}
}

// redirect sends the browser to a path of the portal.
func (p *Portal) redirect(w http.ResponseWriter, r *http.Request, target string) error {
	http.Redirect(w, r, p.base+target, http.StatusSeeOther)
	return nil
}

// runThen runs a command, and sends the browser to a path.
func (p *Portal) runThen(w http.ResponseWriter, r *http.Request, target, name string, given command.Args) error {
	if _, err := p.run(r, name, given); err != nil {
		return err
	}
	return p.redirect(w, r, target)
}

const (
	maxSignIn = 16 << 10
	maxForm   = 4 << 20
)

func readForm(w http.ResponseWriter, r *http.Request, limit int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if err := r.ParseForm(); err != nil {
		return sluice.Errorf(sluice.CodeFormMalformed, "The form could not be read, or is larger than %s.", wording.Bytes(limit))
	}
	return nil
}

// formText returns a text of a form with its line ends as \n: browsers send \r\n.
func formText(r *http.Request, name string) string {
	return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n")
}

//go:embed static
var static embed.FS

// files are what pages load. Their public names have a hash of the content, so that
// browsers may cache them for ever.
type files struct {
	names    map[string]string        // public names by file names
	contents map[string][]byte        // by public name
	packed   map[string]func() []byte // the same, compressed at the first request
}

// assets are read for the first page, so that starting is quick.
var assets = sync.OnceValue(func() files {
	a := files{make(map[string]string), make(map[string][]byte), make(map[string]func() []byte)}
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err)
	}
	for _, file := range entries {
		content, err := static.ReadFile("static/" + file.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		ending := path.Ext(file.Name())
		name := strings.TrimSuffix(file.Name(), ending) + "." + hex.EncodeToString(sum[:6]) + ending
		a.names[file.Name()] = name
		a.contents[name], a.packed[name] = content, sync.OnceValue(func() []byte { return packed(content) })
	}
	return a
})

// packed compresses a file.
func packed(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only if the level is unknown
	_, _ = w.Write(content)                               // a buffer takes it all
	_ = w.Close()
	return b.Bytes()
}

// path returns the path that a file is loaded from.
func (a files) path(name string) string { return "/static/" + a.names[name] }

// wrongFilter returns the status of a list, and the message if the command rejected the
// filter. It returns other errors unchanged.
func wrongFilter(err error) (status int, rejection string, other error) {
	if err == nil {
		return http.StatusOK, "", nil
	}
	e := sluice.AsError(err)
	if e.Kind != sluice.Invalid {
		return 0, "", err
	}
	return problem.Status(e), e.Message, nil
}

// asTime returns the value of a browser's time field in RFC 3339, as UTC. It returns
// any other text unchanged.
func asTime(text string) string {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return text
}

// pageSize is how many items lists show at once.
const pageSize = "25"

// nextPage returns the path of the page after a cursor, or "".
func (p *Portal) nextPage(r *http.Request, after string) string {
	if after == "" {
		return ""
	}
	query := r.URL.Query()
	query.Del("done")
	query.Set("after", after)
	return p.base + r.URL.Path + "?" + query.Encode()
}

// A confirmation asks before something is deleted.
type confirmation struct {
	Verb   string // "": delete
	Name   string
	What   string // the word for it
	Effect string
	Used   *resourceCell // when it was last used; nil if unknown
	Hit    *consequence  // nil if nothing else is affected
	Action string        // path
	Back   string        // path

	// For several things of a list: the form's field for them, and its values.
	Several bool
	Field   string
	Values  []string
	Code    string // which they failed with, if that selects them

	Instead *instead // something that can be undone; nil if there is nothing
}
