package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/problem"
	"sluice/sender"
	"sluice/webhook/form"
)

// check rejects a call that does not meet what its webhook demands. For a handshake it
// returns the answer that the sender expects. It stores no event.
func (rc *Receiver) check(in *incoming) (*sender.Answer, error) {
	if in.hook.Disabled {
		return nil, sluice.Errorf(sluice.CodeWebhookDisabled, "This webhook is disabled at the moment.")
	}
	if in.hook.Trust == nil {
		return nil, nil
	}
	ctx := in.request.Context()
	var err error
	if in.trust, err = rc.Trusts.of(ctx, &in.hook); err != nil {
		return nil, err
	}
	call := rc.callOf(in)
	if !in.vouched {
		if err := in.trust.origin.check(rc.Trusts.ClientCertificates, in); err != nil {
			return nil, err
		}
		if answer, err := rc.handshake(ctx, in, call); answer != nil || err != nil {
			return answer, err
		}
	}
	var decoded int64
	if in.trust.schema != nil && len(in.body) > smallBody {
		decoded = in.trust.schema.footprint(in.body)
		if err := rc.Bodies.Grow(ctx, &in.memory, decoded); err != nil {
			return nil, err
		}
	}
	take := func(more int64) error { return rc.Bodies.Grow(ctx, &in.memory, decoded+more) }
	in.id, err = in.trust.admits(ctx, call, in.body, in.arrived, in.vouched, take)
	return nil, err
}

// smallBody bounds the bodies whose memory is not counted: checking one is over before
// the next one is here.
const smallBody = 4 << 10

// admits rejects a call with a wrong signature, payload or id, and returns its id. Checking
// the payload takes memory.
func (g *trust) admits(ctx context.Context, call *sender.Call, payload []byte, at time.Time, vouched bool, take func(more int64) error) (id string, err error) {
	if g.verifier != nil && !vouched {
		if err := g.verifier.Verify(ctx, call, at); err != nil {
			return "", err
		}
	}
	if g.schema != nil {
		if err := g.schema.check(ctx, payload, take); err != nil {
			return "", err
		}
	}
	if g.ids != nil {
		return g.ids.ID(call)
	}
	return "", nil
}

// callOf returns a call as its sender made it, with the URL that was entered there.
func (rc *Receiver) callOf(in *incoming) *sender.Call {
	r, address := in.request, rc.BaseURL+in.request.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		address += "?" + r.URL.RawQuery
	}
	return &sender.Call{Method: r.Method, URL: address, Header: r.Header, Body: in.sent()}
}

// sent returns the body as it came: signatures cover the token in it.
func (in *incoming) sent() []byte {
	if in.raw != nil {
		return in.raw
	}
	return in.body
}

// masked returns the headers that carry a secret of the sender.
func (g *trust) masked() []string {
	if g == nil || g.verifier == nil {
		return nil
	}
	return g.verifier.Masked()
}

// cloudEvent returns the attributes of a call that is a CloudEvent, nil for others.
// Most calls are ruled out by their headers.
func cloudEvent(header http.Header, body []byte) *sluice.CloudEvent {
	const structured = "application/cloudevents"
	media := header["Content-Type"]
	if len(header["Ce-Id"]) == 0 && (len(media) == 0 || len(media[0]) < len(structured) || !strings.EqualFold(media[0][:len(structured)], structured)) {
		return nil
	}
	call := sender.Call{Header: header, Body: body}
	if e, ok := call.CloudEvent(); ok {
		return &e
	}
	return nil
}

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
	call := sluice.Call{TraceID: traceID, EventKey: in.hook.EventKey, Status: sluice.StatusRejected, StatusCode: problem.Status(e), Code: e.Code}
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

// logRefusal logs a call that was rejected because of its caller. Our own failures are
// logged where they happen.
func (rc *Receiver) logRefusal(r *http.Request, c *sluice.Call) {
	if c.StatusCode >= http.StatusInternalServerError || rc.refusals.Try("") > 0 {
		return
	}
	rc.Log.LogAttrs(r.Context(), slog.LevelInfo, "A call was refused.", slog.String("traceId", c.TraceID),
		slog.String("code", c.Code), slog.Int("statusCode", c.StatusCode), slog.String("eventKey", c.EventKey), slog.String("remoteAddr", r.RemoteAddr))
}

// handshake returns the answer to a call that is a handshake of its sender, nil if it
// is none. By then the subscription is confirmed and a learned secret is stored.
func (rc *Receiver) handshake(ctx context.Context, in *incoming, call *sender.Call) (*sender.Answer, error) {
	if in.trust == nil || in.trust.verifier == nil {
		return nil, nil
	}
	answer, err := in.trust.verifier.Handshake(ctx, call, in.arrived, in.trust.VerifyToken)
	if answer == nil || err != nil {
		return nil, err
	}
	if answer.Fetch != "" {
		if err := rc.Trusts.Fetch(ctx, answer.Fetch); err != nil {
			return nil, sluice.Errorf(sluice.CodeHandshakeFailed, "The subscription could not be confirmed now; send it again.").Because(err).After(handshakeRetry)
		}
	}
	if answer.LearnedSecret == "" {
		return answer, nil
	}
	err = rc.Learn(ctx, in.hook.UUID, answer.LearnedSecret)
	if err == nil {
		return answer, nil
	}
	if sluice.AsError(err).Kind != sluice.Conflict {
		return nil, err
	}
	// Another secret was learned meanwhile, and decides about this call.
	if in.hook, err = rc.Webhooks.Webhook(ctx, in.hook.UUID); err != nil {
		return nil, err
	}
	if in.trust, err = rc.Trusts.of(ctx, &in.hook); err != nil || in.trust == nil || in.trust.verifier == nil {
		return nil, err
	}
	return in.trust.verifier.Handshake(ctx, call, in.arrived, in.trust.VerifyToken)
}

// receiveGreeting answers methods that are handshakes of some senders, and
// nothing else.
func (rc *Receiver) receiveGreeting(in *incoming) (err error) {
	if in.query, err = form.ParseQuery(in.query, in.request.URL.RawQuery); err != nil {
		return command.MalformedQuery()
	}
	token, err := in.findToken()
	if err != nil || token == "" {
		return notAllowed(sluice.DefaultMethods)
	}
	if err := rc.find(in, token); err != nil {
		if sluice.AsError(err).Kind == sluice.Unavailable {
			return err
		}
		return notAllowed(sluice.DefaultMethods)
	}
	if in.hook.Disabled || in.hook.Trust == nil {
		return notAllowed(methodsOf(&in.hook))
	}
	ctx := in.request.Context()
	if in.trust, err = rc.Trusts.of(ctx, &in.hook); err != nil {
		return err
	}
	if err := in.trust.origin.check(rc.Trusts.ClientCertificates, in); err != nil {
		return err
	}
	if in.answer, err = rc.handshake(ctx, in, rc.callOf(in)); err == nil && in.answer == nil {
		return notAllowed(methodsOf(&in.hook))
	}
	return err
}

func notAllowed(methods []string) error {
	return sluice.Errorf(sluice.CodeMethodNotAllowed, "This webhook is called with %s.", strings.Join(methods, " or ")).Allowing(strings.Join(methods, ", "))
}

// greet writes the answer to a handshake, byte for byte.
func (rc *Receiver) greet(w http.ResponseWriter, in *incoming) {
	maps.Copy(w.Header(), in.answer.Header)
	w.WriteHeader(in.answer.Status)
	_, _ = w.Write(in.answer.Body) // the caller has gone: it will ask again
	rc.observe(in, sluice.Call{TraceID: sluice.NewTraceID(in.hook.UUID, in.arrived), Status: sluice.StatusHandshake, StatusCode: in.answer.Status})
}

// handshakeRetry is when a sender may try its handshake again.
const handshakeRetry = 5 * time.Second

// Learn stores a signing secret that came with a handshake. Conflict if the webhook
// has another one already.
func (s *Store) Learn(ctx context.Context, token, secret string) error {
	_, err := s.records.Change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
		if before == nil {
			return nil, noWebhook("uuid")
		}
		known := trustOf(before)
		if known.Signing != "" && known.Signing != secret {
			return nil, sluice.Errorf(sluice.CodeSigningSecretKnown, "The webhook has a signing secret already.")
		}
		known.Signing = secret
		after := *before
		after.Updated = later(time.Now().UTC().Truncate(time.Millisecond), before)
		after.Trust = stored(known)
		return &after, nil
	})
	return err
}
