package page

import (
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/wording"
)

// A Visit is one request of a browser, and the user who made it.
type Visit struct {
	*Site

	W    http.ResponseWriter
	R    *http.Request
	User sluice.User // without a name if nobody is signed in

	// Status is the status of the page, 0 if all is well.
	Status int

	failed error // see Fail
}

// Query returns a value of the URL's query, "" if there is none.
func (v *Visit) Query(name string) string { return v.R.URL.Query().Get(name) }

// Named returns what the path has for a name in the pattern of the page.
func (v *Visit) Named(name string) string { return v.R.PathValue(name) }

// Entered returns a text of the form, with line ends as \n: browsers send \r\n.
func (v *Visit) Entered(name string) string {
	return strings.ReplaceAll(v.R.PostForm.Get(name), "\r\n", "\n")
}

// ReadForm reads the form that was submitted.
func (v *Visit) ReadForm(limit int64) error {
	v.R.Body = http.MaxBytesReader(v.W, v.R.Body, limit)
	if err := v.R.ParseForm(); err != nil {
		return sluice.CodeFormMalformed.Errorf("The form could not be read, or is larger than %s.",
			wording.Bytes(limit))
	}
	return nil
}

// Redirect sends the browser to a path of the portal.
func (v *Visit) Redirect(target string) error { return v.Leave(v.Base + target) }

// Leave sends the browser to a URL.
func (v *Visit) Leave(target string) error {
	if v.failed == nil {
		http.Redirect(v.W, v.R, target, http.StatusSeeOther)
	}
	return v.failed
}

// RunThen runs a command, and sends the browser to a path.
func (v *Visit) RunThen(target, name string, given ...any) error {
	_, err := v.Run(name, given...)
	v.Fail(err)
	return v.Redirect(target)
}

// Size is how many items lists show at once.
const Size = "25"

// Asked returns the arguments of a list: what the query says of some parameters, and which page of it.
func (v *Visit) Asked(names ...string) command.Args {
	return Args(Picked(v.R.URL.Query(), append(names, "after")...), "limit", Size)
}

// Picked returns those of some values that have one of the names, as arguments.
func Picked(values url.Values, names ...string) (given command.Args) {
	for _, name := range names {
		given = append(given, Args(name, values.Get(name))...)
	}
	return given
}

// Next returns the path of the page after a cursor, or "".
func (v *Visit) Next(after string) string {
	if after == "" {
		return ""
	}
	query := v.R.URL.Query()
	query.Del("done")
	query.Set("after", after)
	return v.Base + v.R.URL.Path + "?" + query.Encode()
}

// Live returns the path of a live stream of calls, of a webhook or with a trace id if these are given. It
// returns "" if the user may not see calls.
func (v *Visit) Live(eventKey, trace string) string {
	if !v.May("trace.get") {
		return ""
	}
	query := url.Values{}
	if eventKey != "" {
		query.Set("eventKey", eventKey)
	}
	if trace != "" {
		query.Set("trace", trace)
	}
	return v.Base + sluice.LivePath + "?" + query.Encode()
}
