package webhook

import (
	"log/slog"
	"net/http"
	"time"

	"sluice"
	"sluice/problem"
)

// refused reports to Observe a call that was rejected unread, since the server
// is overloaded or stops. Its token is not looked up and its body not read, so
// it is filed under the end of a token in the query or header.
func (rc *Receiver) refused(r *http.Request, err error) {
	in := &incoming{request: r, arrived: time.Now()}
	if query, err := parseQuery(nil, r.URL.RawQuery); err == nil {
		in.token, _ = requestToken(query, r.Header) // "" if there are several
	}
	rc.observe(in, rejected(sluice.NewTraceID(in.claimed(), in.arrived), sluice.AsError(err)))
}

func rejected(traceID string, e *sluice.Error) sluice.Call {
	return sluice.Call{TraceID: traceID, Status: sluice.StatusRejected, StatusCode: problem.Status(e), Code: e.Code}
}

// logRefusal writes a line about a call rejected for its caller's mistake. What goes wrong
// here is logged where it happens.
func (rc *Receiver) logRefusal(r *http.Request, c *sluice.Call) {
	if c.StatusCode >= http.StatusInternalServerError || rc.refusals.Try("") > 0 {
		return
	}
	rc.Log.LogAttrs(r.Context(), slog.LevelInfo, "A call was refused.", slog.String("traceId", c.TraceID),
		slog.String("code", c.Code), slog.Int("statusCode", c.StatusCode), slog.String("eventKey", c.EventKey), slog.String("remoteAddr", r.RemoteAddr))
}
