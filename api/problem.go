package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"sluice"
)

// A problem is the body of every error (RFC 9457).
type problem struct {
	Type       string `json:"type"`
	Title      string `json:"title"`
	Status     int    `json:"status"`
	Detail     string `json:"detail"`
	Code       string `json:"code"`
	StatusCode int    `json:"statusCode"`
	TraceID    string `json:"traceId,omitempty"`
	Parameter  string `json:"parameter,omitempty"`
}

// statusOf is the one place that maps kinds of failure to HTTP.
var statusOf = map[sluice.Kind]int{
	sluice.Internal:         http.StatusInternalServerError,
	sluice.Invalid:          http.StatusBadRequest,
	sluice.Unauthenticated:  http.StatusUnauthorized,
	sluice.Forbidden:        http.StatusForbidden,
	sluice.NotFound:         http.StatusNotFound,
	sluice.MethodNotAllowed: http.StatusMethodNotAllowed,
	sluice.Timeout:          http.StatusRequestTimeout,
	sluice.Conflict:         http.StatusConflict,
	sluice.Gone:             http.StatusGone,
	sluice.TooLarge:         http.StatusRequestEntityTooLarge,
	sluice.Unsupported:      http.StatusUnsupportedMediaType,
	sluice.Throttled:        http.StatusTooManyRequests,
	sluice.Unavailable:      http.StatusServiceUnavailable,
}

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
	status := statusOf[e.Kind]
	if status >= http.StatusInternalServerError && e.Err != nil {
		a.Log.Error("A request failed.", "path", r.URL.Path, "code", e.Code, "traceId", e.TraceID, "error", e.Err)
	}
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	e.SetHeaders(header)
	w.WriteHeader(status)
	writeJSON(w, problem{
		Type:       "urn:sluice:problem:" + e.Code,
		Title:      title(e.Code),
		Status:     status,
		Detail:     e.Message,
		Code:       e.Code,
		StatusCode: status,
		TraceID:    e.TraceID,
		Parameter:  e.Parameter,
	})
}

// title gives a code in words.
func title(code string) string {
	words := strings.NewReplacer("-", " ", "_", " ").Replace(code)
	return strings.ToUpper(words[:1]) + words[1:]
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
