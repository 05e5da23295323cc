package receive

import (
	"context"
	"time"

	"sluice"
	"sluice/sender"
	"sluice/webhook/trust"
)

// A checked call is what its webhook demands.
type checked struct {
	*found

	trust     *trust.Trust
	id        string   // of the delivery
	blurred   bool     // members that its id may be made of were never stored
	batch     bool     // it brings several events, or none
	items     [][]byte // those, as JSON
	stored    []sluice.StoredItem
	kind      string         // of the event
	answers   sender.Answers // that its webhook gives
	wait      time.Duration  // for pipelines
	listeners []string       // pipelines that the event starts
	headers   sluice.Headers
	payload   []byte // as JSON
}

// check rejects a call that does not meet what its webhook demands. For a handshake it
// returns the greeting that the sender expects: then there is no call. The API of a sender
// can vouch for a call in place of a signature.
func (rc *Receiver) check(f *found, vouched bool) (c *checked, greeting *sender.Answer, err error) {
	c = &f.place.checked
	if f.hook.Disabled {
		return nil, nil, sluice.CodeWebhookDisabled.Errorf("This webhook is disabled at the moment.")
	}
	ctx := f.request.Context()
	if c.trust, err = rc.Trust.Of(ctx, &f.hook); err != nil {
		return nil, nil, err
	}
	if f.hook.Trust == nil {
		return c, nil, c.split()
	}
	call := rc.callOf(f)
	if !vouched {
		if f.certificates, err = rc.Trust.CheckOrigin(c.trust, f.request, f.certificates, f.at); err != nil {
			return nil, nil, err
		}
		if greeting, err = rc.handshake(ctx, c, call); greeting != nil || err != nil {
			return nil, greeting, err
		}
	}
	c.id, err = rc.checkContent(ctx, c, call, vouched)
	return c, nil, err
}

// smallBody bounds the bodies whose memory is not counted: checking one is over before
// the next one is here.
const smallBody = 4 << 10

func (rc *Receiver) checkContent(
	ctx context.Context, c *checked, call *sender.Call, vouched bool,
) (id string, err error) {
	var decoded int64
	if len(c.body) > smallBody {
		decoded = c.trust.Footprint(c.body)
		if err := rc.Bodies.Grow(ctx, &c.memory, decoded); err != nil {
			return "", err
		}
	}
	grow := func(more int64) error { return rc.Bodies.Grow(ctx, &c.memory, decoded+more) }
	if !vouched {
		if err := c.trust.Verify(ctx, call, c.at); err != nil {
			return "", err
		}
	}
	if err := c.split(); err != nil {
		return "", err
	}
	work := c.trust.Work(ctx)
	if !c.batch {
		if err := c.trust.CheckPayload(ctx, work, c.body, grow); err != nil {
			return "", err
		}
		return c.trust.ID(call)
	}
	for i, item := range c.items {
		if err := c.trust.CheckPayload(ctx, work, item, grow); err != nil {
			return "", trust.InItem(i, err)
		}
	}
	return "", nil // its items have ids
}

// callOf returns a call as its sender made it, with the URL that was entered there.
func (rc *Receiver) callOf(f *found) *sender.Call {
	r, address := f.request, rc.Trust.BaseURL+f.request.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		address += "?" + r.URL.RawQuery
	}
	return &sender.Call{Method: r.Method, URL: address, Header: r.Header, Body: f.sent()}
}
