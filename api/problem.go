package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"sluice"
	"sluice/limit"
	"sluice/problem"
)

// fail answers a request with an error.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	limit.Discard(w, r)
	e := sluice.AsError(err)
	shown := problem.Of(e)
	if shown.Status >= http.StatusInternalServerError && e.Err != nil && !abandoned(e.Err) {
		a.Log.ErrorContext(r.Context(), "A request failed.", "path", r.URL.Path, "code", e.Code, "traceId", e.TraceID, "error", e.Err)
	}
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	problem.SetHeaders(header, r, e)
	w.WriteHeader(shown.Status)
	writeJSON(w, shown)
}

// abandoned reports whether an error is not the server's: the caller has gone, or
// the server stops.
func abandoned(err error) bool {
	return errors.Is(err, context.Canceled) || sluice.CodeDraining.Is(err)
}

// writeJSON writes a value that has a JSON form. An error means that the caller
// has gone.
func writeJSON(w http.ResponseWriter, value any) {
	_ = encodeJSON(w, value)
}

func encodeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}
