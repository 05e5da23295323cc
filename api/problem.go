package api

import (
	"encoding/json"
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
	if shown.Status >= http.StatusInternalServerError && e.Err != nil {
		a.Log.ErrorContext(r.Context(), "A request failed.", "path", r.URL.Path, "code", e.Code, "traceId", e.TraceID, "error", e.Err)
	}
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	problem.SetHeaders(header, e)
	w.WriteHeader(shown.Status)
	writeJSON(w, shown)
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
