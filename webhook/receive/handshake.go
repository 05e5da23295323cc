package receive

import (
	"context"
	"maps"
	"net/http"
	"time"

	"sluice"
	"sluice/command"
	"sluice/sender"
	"sluice/webhook/form"
)

// handshakeRetry is when a sender may try its handshake again.
const handshakeRetry = 5 * time.Second

// handshake returns the answer to a call that is a handshake of its sender, nil if it
// is none. By then the subscription is confirmed and a learned secret is stored.
func (rc *Receiver) handshake(ctx context.Context, c *checked, call *sender.Call) (*sender.Answer, error) {
	answer, err := c.trust.Handshake(ctx, call, c.at, c.trust.VerifyToken)
	if answer == nil || err != nil {
		return nil, err
	}
	if answer.Fetch != "" {
		if err := rc.Trust.Fetch(ctx, answer.Fetch); err != nil {
			return nil, sluice.CodeHandshakeFailed.Errorf(
				"The subscription could not be confirmed now; send it again.").Because(err).After(handshakeRetry)
		}
	}
	if answer.LearnedSecret == "" {
		return answer, nil
	}
	err = rc.Trust.Learn(ctx, c.hook.UUID, answer.LearnedSecret)
	if err == nil {
		return answer, nil
	}
	if !sluice.Conflict.Is(err) {
		return nil, err
	}
	// Another secret was learned meanwhile, and decides about this call.
	if c.hook, err = rc.Find.Webhook(ctx, c.hook.UUID); err != nil {
		return nil, err
	}
	if c.trust, err = rc.Trust.Of(ctx, &c.hook); err != nil {
		return nil, err
	}
	return c.trust.Handshake(ctx, call, c.at, c.trust.VerifyToken)
}

// receiveGreeting answers methods that are handshakes of some senders, and nothing else.
func (rc *Receiver) receiveGreeting(a *arrived) (greeting *sender.Answer, err error) {
	f := &a.place.found
	if a.query, err = form.ParseQuery(a.query, a.request.URL.RawQuery); err != nil {
		return nil, command.MalformedQuery()
	}
	token, err := a.findToken()
	if err != nil || token == "" {
		return nil, notAllowed(sluice.DefaultMethods)
	}
	if err := rc.lookUp(f, token); err != nil {
		if sluice.Unavailable.Is(err) {
			return nil, err
		}
		return nil, notAllowed(sluice.DefaultMethods)
	}
	if f.hook.Disabled {
		return nil, notAllowed(f.hook.AllowedMethods())
	}
	ctx, c := a.request.Context(), &a.place.checked
	if c.trust, err = rc.Trust.Of(ctx, &f.hook); err != nil {
		return nil, err
	}
	if f.certificates, err = rc.Trust.CheckOrigin(c.trust, a.request, f.certificates, a.at); err != nil {
		return nil, err
	}
	if greeting, err = rc.handshake(ctx, c, rc.callOf(f)); err == nil && greeting == nil {
		return nil, notAllowed(f.hook.AllowedMethods())
	}
	return greeting, err
}

// greet writes the answer to a handshake, byte for byte.
func (rc *Receiver) greet(w http.ResponseWriter, a *arrived, greeting *sender.Answer) {
	maps.Copy(w.Header(), greeting.Header)
	w.WriteHeader(greeting.Status)
	_, _ = w.Write(greeting.Body) // the caller has gone: it will ask again
	rc.observe(a, sluice.Call{
		TraceID: sluice.NewTraceID(a.place.found.hook.UUID, a.at),
		Status:  sluice.StatusHandshake, StatusCode: greeting.Status,
	})
}
