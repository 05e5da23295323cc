package webhook

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/sender"
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
