package page

import (
	"net/http"

	"sluice"
	"sluice/problem"
)

// IsMistake reports whether a form shows an error itself, for the user to try again.
func IsMistake(err error) bool {
	kind := sluice.AsError(err).Kind
	return kind != sluice.Internal && kind != sluice.Unauthenticated
}

// Mistake returns what is wrong with what was entered, for a page that shows it again; "" if there is no error. The
// page gets the status of the error. With an error that is no mistake of the user, the page fails.
func (v *Visit) Mistake(err error) (message string) {
	switch {
	case err == nil:
		return ""
	case !IsMistake(err):
		v.Fail(err)
		return ""
	}
	v.Status = problem.Status(err)
	return sluice.AsError(err).Message
}

// Correct lets a form be shown again with a mistake in it. With other errors the page fails.
func (v *Visit) Correct(err error, show func(v *Visit, mistake error) error) error {
	v.Mistake(err)
	return show(v, err)
}

// fail answers with the error page.
func (v *Visit) fail(err error) {
	v.failed = nil // what is shown now is another page
	e := sluice.AsError(err)
	about := problem.Of(e)
	if about.Status >= http.StatusInternalServerError && e.Err != nil {
		v.Log.Error("A page failed.", "path", v.R.URL.Path, "code", e.Code, "error", e.Err)
	}
	v.SetProblem(e)
	if err := v.Show("error", about.Title, about); err != nil {
		v.Log.Error("The page of an error failed.", "error", err)
		http.Error(v.W, about.Detail, about.Status)
	}
}

// SetProblem sets the status and the headers of an error, but for the one that makes browsers ask for a password
// themselves.
func (v *Visit) SetProblem(err *sluice.Error) {
	v.Status = problem.Status(err)
	problem.SetHeaders(v.W.Header(), v.R, err)
	v.W.Header().Del("WWW-Authenticate")
}
