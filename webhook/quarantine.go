package webhook

import (
	"slices"

	"sluice"
	"sluice/problem"
)

// A Quarantine keeps calls that were refused, for people to look at.
type Quarantine interface {
	// Keep takes a call of a webhook over, if there is room for a body of that
	// size; only then call is called. It never waits.
	Keep(token string, size int, call func() *sluice.QuarantinedCall) bool
}

// isQuarantined reports whether calls that were refused so are kept: they are of a
// known webhook, and may be meant well.
func isQuarantined(code string) bool {
	switch code {
	case sluice.CodeSignatureInvalid.Word, sluice.CodeSignatureMissing.Word, sluice.CodeSignatureExpired.Word, sluice.CodePayloadInvalid.Word, sluice.CodeWebhookDisabled.Word, sluice.CodeDeliveryIDInvalid.Word, sluice.CodeDuplicateDiffers.Word:
		return true
	}
	return false
}

// quarantine keeps a call that was refused, and gives the id it is kept by, "" if
// it is not. duplicateOf is the trace id of the call that had its delivery id
// first, if one had.
func (rc *Receiver) quarantine(in *incoming, traceID string, e *sluice.Error, duplicateOf string) (id string) {
	r, sent := in.request, in.sent()
	taken := rc.Quarantine.Keep(in.hook.UUID, len(sent), func() *sluice.QuarantinedCall {
		return &sluice.QuarantinedCall{
			ID: traceID, Token: in.hook.UUID, EventKey: in.hook.EventKey,
			Code: e.Code, StatusCode: problem.Status(e), Errors: e.Details,
			Time: in.arrived.UTC(), RemoteAddr: r.RemoteAddr, Size: len(sent), DuplicateOf: duplicateOf,
			Request: sluice.KeptRequest{Method: r.Method, RawQuery: r.URL.RawQuery, Host: r.Host, Header: r.Header.Clone(), Body: slices.Clone(sent)},
		}
	})
	if !taken {
		return ""
	}
	return traceID
}

// repeated returns what is told of a call whose delivery was accepted before.
func (rc *Receiver) repeated(in *incoming, result *sluice.Result, status int) sluice.Call {
	call := sluice.Call{TraceID: result.TraceID, CorrelationID: result.CorrelationID, Status: sluice.StatusOK, StatusCode: status, Duplicate: true}
	if result.Differs {
		traceID := sluice.NewTraceID(in.hook.UUID, in.arrived)
		e := sluice.Errorf(sluice.CodeDuplicateDiffers, "The id of this delivery is known, with another body.")
		call.Quarantine = rc.quarantine(in, traceID, e, result.TraceID)
	}
	return call
}
