package api

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"sluice"
	"sluice/problem"
)

// refusedBodyWait is how long the body of a refused call may take to arrive, so
// that the connection can be used on.
const refusedBodyWait = time.Second

// fail answers a request with an error.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Body != http.NoBody {
		// net/http reads what is left of a body, however long that takes.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(min(a.Pace.Idle, refusedBodyWait)))
	}
	e := sluice.AsError(err)
	shown := problem.Of(e)
	if shown.Status >= http.StatusInternalServerError && e.Err != nil {
		a.Log.Error("A request failed.", "path", r.URL.Path, "code", e.Code, "traceId", e.TraceID, "error", e.Err)
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
