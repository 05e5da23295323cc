package webhook

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/sender"
)

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
	if in.query, err = parseQuery(in.query, in.request.URL.RawQuery); err != nil {
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
