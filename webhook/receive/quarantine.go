package receive

import (
	"net/http"
	"slices"

	"sluice"
	"sluice/problem"
	"sluice/webhook/trust"
)

// A Quarantine keeps calls that were rejected, for people to look at.
type Quarantine interface {
	// Keep keeps a call of a webhook if there is room for a body of that
	// size. Only then it calls call. It never waits.
	Keep(token string, size int, call func() *sluice.QuarantinedCall) bool
}

// isQuarantined reports whether calls that were rejected with a code are kept: their
// webhook is known, and they may be meant well.
func isQuarantined(code string) bool {
	switch sluice.Code(code) {
	case sluice.CodeSignatureInvalid, sluice.CodeSignatureMissing, sluice.CodeSignatureExpired,
		sluice.CodePayloadInvalid, sluice.CodeWebhookDisabled, sluice.CodeDeliveryIDInvalid,
		sluice.CodeDuplicateDiffers, sluice.CodePayloadTooLarge, sluice.CodeTooManyItems,
		sluice.CodeAddressNotAllowed, sluice.CodeCertificateMissing, sluice.CodeCertificateInvalid:
		return true
	}
	return false
}

// quarantine keeps a rejected call and returns its id there, "" if there is no room.
// duplicateOf is the trace id of the call that first had its delivery id, if one had.
func (rc *Receiver) quarantine(f *found, traceID string, e *sluice.Error, duplicateOf string) (id string) {
	kept := rc.Quarantine.Keep(f.hook.UUID, len(f.sent()), func() *sluice.QuarantinedCall {
		changed := f.redact()
		r, sent := f.request, f.sent()
		return &sluice.QuarantinedCall{
			ID: traceID, Token: f.hook.UUID, EventKey: f.hook.EventKey,
			Code: e.Code, StatusCode: problem.Status(e), Errors: trust.Hide(e.Details, f.isHidden),
			Time: f.at.UTC(), RemoteAddr: r.RemoteAddr, Size: f.length(), DuplicateOf: duplicateOf,
			Request: sluice.KeptRequest{
				Method: r.Method, Path: f.keptPath(), RawQuery: r.URL.RawQuery, Host: r.Host, Header: r.Header.Clone(),
				Body: slices.Clone(sent), Certificates: f.certificates, Redacted: changed,
			},
		}
	})
	if !kept {
		return ""
	}
	return traceID
}

// differing returns the answer to a known id with a new body: that the call was accepted, so
// that a sender does not go on, and nothing of the first call.
func differing(f *found) sluice.Result {
	return sluice.Result{
		StatusCode: http.StatusOK, Status: sluice.StatusOK, TraceID: sluice.NewTraceID(f.hook.UUID, f.at),
		Created:   f.at.UTC(),
		Duplicate: true, Differs: true,
	}
}

// repeated returns the record of a call whose delivery was accepted before. It was answered
// with a trace id.
func (rc *Receiver) repeated(f *found, result *sluice.Result, traceID string, status int) sluice.Call {
	call := sluice.Call{
		TraceID: result.TraceID, CorrelationID: result.CorrelationID, Status: sluice.StatusOK, StatusCode: status,
		Duplicate: true,
	}
	if result.Differs {
		e := sluice.CodeDuplicateDiffers.Errorf("The id of this delivery is known, with another body.")
		call.Quarantine, call.Differing = rc.quarantine(f, traceID, e, result.TraceID), traceID
	}
	return call
}
