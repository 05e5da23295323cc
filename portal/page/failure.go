package page

import (
	"net/http"

	"sluice"
	"sluice/problem"
)

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
		return "What you look for may have been deleted or renamed, or the address has a mistake. The lists show " +
			"what there is."
	case http.StatusConflict, http.StatusPreconditionFailed:
		return "Nothing was changed. Go back, see how things are now, and try again."
	case http.StatusTooManyRequests:
		return "Nothing was changed. Wait for a moment, then reload the page."
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return "Wait for a moment, then reload the page. If that does not help, /readyz and the server’s log tell an " +
			"operator why."
	}
	if f.Status >= http.StatusInternalServerError {
		return "This is not your mistake. The server’s log tells an operator more; what was accepted before is safe."
	}
	return "Nothing was changed. Go back, change what you entered, and try again."
}

// fail answers with the error page.
func (v *Visit) fail(err error) {
	e := sluice.AsError(err)
	about := problem.Of(e)
	if about.Status >= http.StatusInternalServerError && e.Err != nil {
		v.Log.Error("A page failed.", "path", v.R.URL.Path, "code", e.Code, "error", e.Err)
	}
	v.SetProblem(e)
	if err := v.ShowAs(about.Status, "error", about.Title, failure{*about, e.Code}); err != nil {
		v.Log.Error("The page of an error failed.", "error", err)
		http.Error(v.W, about.Detail, about.Status)
	}
}

// SetProblem sets the headers of an error, but for the one that makes browsers ask for a password themselves.
func (v *Visit) SetProblem(err *sluice.Error) {
	problem.SetHeaders(v.W.Header(), v.R, err)
	v.W.Header().Del("WWW-Authenticate")
}
