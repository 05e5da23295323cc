package webhook

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/sender"
)

// check refuses a call that is not what its webhook demands. If the call is a
// handshake, it gives the answer that the sender demands. Nothing is stored yet.
func (rc *Receiver) check(in *incoming) (*sender.Answer, error) {
	if in.hook.Disabled {
		return nil, sluice.Errorf(sluice.CodeWebhookDisabled, "This webhook is disabled at the moment.")
	}
	if in.hook.Trust == nil {
		return nil, nil
	}
	ctx := in.request.Context()
	var err error
	if in.guard, err = rc.Guards.of(ctx, &in.hook); err != nil {
		return nil, err
	}
	call := rc.callOf(in)
	if answer, err := rc.handshake(ctx, in, call); answer != nil || err != nil {
		return answer, err
	}
	if in.guard.schema != nil && len(in.body) > smallBody {
		if err := rc.Bodies.Grow(ctx, &in.memory, in.guard.schema.footprint(in.body)); err != nil {
			return nil, err
		}
	}
	in.id, err = in.guard.admits(ctx, call, in.body, in.arrived)
	return nil, err
}

// smallBody is how large a body may be that takes no memory worth counting, whatever
// is in it: checking it is over before the next one is here.
const smallBody = 4 << 10

// admits refuses a call whose signature, payload or id is not what it should be,
// and gives its id.
func (g *guard) admits(ctx context.Context, call *sender.Call, payload []byte, at time.Time) (id string, err error) {
	if g.verifier != nil {
		if err := g.verifier.Verify(ctx, call, at); err != nil {
			return "", err
		}
	}
	if g.schema != nil {
		if err := g.schema.check(payload); err != nil {
			return "", err
		}
	}
	if g.ids != nil {
		return g.ids.ID(call)
	}
	return "", nil
}

// callOf returns a call as its sender made it.
func (rc *Receiver) callOf(in *incoming) *sender.Call {
	r := in.request
	return &sender.Call{Method: r.Method, URL: rc.urlOf(r.URL.RawQuery), Header: r.Header, Body: in.sent()}
}

// urlOf returns the URL that was called as it is entered at senders.
func (rc *Receiver) urlOf(rawQuery string) string {
	address := rc.BaseURL + sluice.ReceivePath
	if rawQuery != "" {
		address += "?" + rawQuery
	}
	return address
}

// sent returns the body as it came: a signature covers the token that it had.
func (in *incoming) sent() []byte {
	if in.raw != nil {
		return in.raw
	}
	return in.body
}

// masked returns the headers that carry a secret of the sender.
func (g *guard) masked() []string {
	if g == nil || g.verifier == nil {
		return nil
	}
	return g.verifier.Masked()
}

// cloudEvent returns the attributes of a call that is an event in the format of the
// CNCF, nil for others: for most calls that takes one look.
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
