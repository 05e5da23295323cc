package webhook

import (
	"cmp"
	"log/slog"
	"net/http"
	"slices"

	"sluice"
	"sluice/problem"
)

// A Quarantine keeps calls that were rejected, for people to look at.
type Quarantine interface {
	// Keep takes over a call of a webhook if there is room for a body of that
	// size. Only then it calls call. It never waits.
	Keep(token string, size int, call func() *sluice.QuarantinedCall) bool
}

// isQuarantined reports whether calls that were rejected with a code are kept: their
// webhook is known, and they may be meant well.
func isQuarantined(code string) bool {
	switch code {
	case sluice.CodeSignatureInvalid.Word, sluice.CodeSignatureMissing.Word, sluice.CodeSignatureExpired.Word, sluice.CodePayloadInvalid.Word, sluice.CodeWebhookDisabled.Word, sluice.CodeDeliveryIDInvalid.Word, sluice.CodeDuplicateDiffers.Word,
		sluice.CodeAddressNotAllowed.Word, sluice.CodeCertificateMissing.Word, sluice.CodeCertificateInvalid.Word:
		return true
	}
	return false
}

// quarantine keeps a rejected call and returns its id there, "" if there is no room.
// duplicateOf is the trace id of the call that first had its delivery id, if one had.
func (rc *Receiver) quarantine(in *incoming, traceID string, e *sluice.Error, duplicateOf string) (id string) {
	taken := rc.Quarantine.Keep(in.hook.UUID, len(in.sent()), func() *sluice.QuarantinedCall {
		changed := in.redact()
		r, sent := in.request, in.sent()
		return &sluice.QuarantinedCall{
			ID: traceID, Token: in.hook.UUID, EventKey: in.hook.EventKey,
			Code: e.Code, StatusCode: problem.Status(e), Errors: e.Details,
			Time: in.arrived.UTC(), RemoteAddr: r.RemoteAddr, Size: len(sent), DuplicateOf: duplicateOf,
			Request: sluice.KeptRequest{Method: r.Method, Path: in.keptPath(), RawQuery: r.URL.RawQuery, Host: r.Host, Header: r.Header.Clone(), Body: slices.Clone(sent), Certificates: in.shown, Redacted: changed},
		}
	})
	if !taken {
		return ""
	}
	return traceID
}

// keptPath returns the path of a call to the second address, "" for others.
func (in *incoming) keptPath() string {
	if !in.hooked {
		return ""
	}
	return in.request.URL.EscapedPath()
}

// refuse reports a rejected call to Observe, and keeps it if it may be meant well.
func (rc *Receiver) refuse(in *incoming, e *sluice.Error) error {
	traceID := cmp.Or(e.TraceID, sluice.NewTraceID(in.claimed(), in.arrived))
	if in.hook.UUID != "" {
		e = e.InCall(traceID) // others learn nothing from the answer
	}
	call := rejected(traceID, e)
	call.EventKey = in.hook.EventKey
	if in.hook.UUID != "" && isQuarantined(e.Code) {
		call.Quarantine = rc.quarantine(in, traceID, e, "")
	}
	rc.observe(in, call)
	rc.logRefusal(in.request, &call)
	return e
}

// differing returns what a call with a known id and another body is answered with: that it
// was taken, so that a sender does not go on, and nothing of the first call.
func differing(in *incoming) sluice.Result {
	return sluice.Result{
		StatusCode: http.StatusOK, Status: sluice.StatusOK, TraceID: sluice.NewTraceID(in.hook.UUID, in.arrived), Created: in.arrived.UTC(),
		Duplicate: true, Differs: true,
	}
}

// repeated returns the record of a call whose delivery was accepted before. It was answered
// with a trace id.
func (rc *Receiver) repeated(in *incoming, result *sluice.Result, traceID string, status int) sluice.Call {
	call := sluice.Call{TraceID: result.TraceID, CorrelationID: result.CorrelationID, Status: sluice.StatusOK, StatusCode: status, Duplicate: true}
	if result.Differs {
		e := sluice.Errorf(sluice.CodeDuplicateDiffers, "The id of this delivery is known, with another body.")
		call.Quarantine = rc.quarantine(in, traceID, e, result.TraceID)
	}
	return call
}

func rejected(traceID string, e *sluice.Error) sluice.Call {
	return sluice.Call{TraceID: traceID, Status: sluice.StatusRejected, StatusCode: problem.Status(e), Code: e.Code}
}

// logRefusal logs a call that was rejected because of its caller. Our own failures are
// logged where they happen.
func (rc *Receiver) logRefusal(r *http.Request, c *sluice.Call) {
	if c.StatusCode >= http.StatusInternalServerError || rc.refusals.Try("") > 0 {
		return
	}
	rc.Log.LogAttrs(r.Context(), slog.LevelInfo, "A call was refused.", slog.String("traceId", c.TraceID),
		slog.String("code", c.Code), slog.Int("statusCode", c.StatusCode), slog.String("eventKey", c.EventKey), slog.String("remoteAddr", r.RemoteAddr))
}
