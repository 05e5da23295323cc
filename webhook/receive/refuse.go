package receive

import (
	"cmp"
	"log/slog"
	"net/http"

	"sluice"
	"sluice/problem"
)

// refuse reports a rejected call to Observe, and keeps it if it may be meant well.
func (rc *Receiver) refuse(a *arrived, e *sluice.Error) error {
	f := &a.place.found // as far as it was found
	traceID := cmp.Or(e.TraceID, sluice.NewTraceID(a.claimed(), a.at))
	if f.hook.UUID != "" {
		e = e.InCall(traceID) // others learn nothing from the answer
	}
	if e.Code == string(sluice.CodePayloadTooLarge) {
		a.place.checked.shed() // it is kept without its body
	}
	call := sluice.Call{
		TraceID: traceID, EventKey: f.hook.EventKey, Status: sluice.StatusRejected, StatusCode: problem.Status(e),
		Code: e.Code,
	}
	call.Unlisted = e.Code == string(sluice.CodeTooManyCalls) && rc.listed.Try(f.hook.UUID) > 0
	if f.hook.UUID != "" && isQuarantined(e.Code) {
		call.Quarantine = rc.quarantine(f, traceID, e, "")
	}
	rc.observe(a, call)
	rc.logRefusal(a.request, &call)
	return e
}

// logRefusal logs a call that was rejected because of its caller. Our own failures are
// logged where they happen.
func (rc *Receiver) logRefusal(r *http.Request, c *sluice.Call) {
	if c.StatusCode >= http.StatusInternalServerError || rc.refusals.Try("") > 0 {
		return
	}
	rc.Log.LogAttrs(r.Context(), slog.LevelInfo, "A call was refused.", slog.String("traceId", c.TraceID),
		slog.String("code", c.Code), slog.Int("statusCode", c.StatusCode), slog.String("eventKey", c.EventKey),
		slog.String("remoteAddr", r.RemoteAddr))
}
