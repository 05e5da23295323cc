package api

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"

	"sluice"
	"sluice/limit"
	"sluice/problem"
	"sluice/value"
)

func (a *API) recover(w http.ResponseWriter, r *http.Request) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		a.Log.Error("A request made the server panic.", "path", sluice.PathWithoutToken(r.URL.Path), "panic", v,
			"stack", string(debug.Stack()))
		a.fail(w, r, sluice.Fault())
	}
}

func notFound(http.ResponseWriter, *http.Request) error {
	return sluice.CodeNotFound.Errorf("There is nothing at this path; " + sluice.OpenAPIPath +
		" lists what there is.")
}

func notAllowed(allow string) error {
	return sluice.CodeMethodNotAllowed.Errorf("This method is not allowed here; use %s.", allow).Allowing(allow)
}

// fail answers a request with an error.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	limit.Discard(w, r)
	a.report(w, r, err)
}

// report is fail for a request whose body is not to be read.
func (a *API) report(w http.ResponseWriter, r *http.Request, err error) {
	e := sluice.AsError(err)
	view := problem.Of(e)
	if view.Status >= http.StatusInternalServerError && e.Err != nil && !abandoned(e.Err) &&
		a.failures.Try(e.Code) == 0 { // callers cause some of them, and all would wait for the log
		a.Log.ErrorContext(r.Context(), "A request failed.", "path", sluice.PathWithoutToken(r.URL.Path),
			"code", e.Code, "traceId", e.TraceID, "error", e.Err)
	}
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	problem.SetHeaders(header, r, e)
	w.WriteHeader(view.Status)
	writeJSON(w, view)
}

// abandoned reports whether an error is not the server's: the caller has gone, or
// the server stops.
func abandoned(err error) bool {
	return errors.Is(err, context.Canceled) || sluice.CodeDraining.Is(err)
}

// writeJSON writes a value that has a JSON form. An error means that the caller
// has gone.
func writeJSON(w http.ResponseWriter, v any) { _ = value.Encode(w, v) }
