package receive

import (
	"context"
	"net/http"

	"sluice"
	"sluice/limit"
	"sluice/sender"
	"sluice/webhook/form"
)

// listPlace returns where the call has the list whose items are events, nil if it is one event.
func (f *found) listPlace() sender.Split {
	if f.hook.Split == "" {
		return nil
	}
	return sender.SplitOf(f.hook.Split, sender.Of(&f.hook).Split, f.request.Header.Get("Content-Type"))
}

// split finds the items of a call that brings several events.
func (c *checked) split() error {
	place := c.listPlace()
	if place == nil || c.files != nil || !isJSONBody(c.request.Header.Get("Content-Type"), c.body) {
		return nil
	}
	if c.items, c.batch = place.Items(c.body); len(c.items) > sluice.MaxItems {
		return sluice.CodeTooManyItems.Errorf("The call brings %d events, and one call may bring %d.",
			len(c.items), sluice.MaxItems)
	}
	return nil
}

// redactions returns the paths of what is never stored: those into items lead there from the call,
// too, as the quarantine keeps it.
func (f *found) redactions() []string {
	if place := f.listPlace(); place != nil {
		return place.Paths(f.hook.Redact)
	}
	return f.hook.Redact
}

// storeBatch makes durable events of the items of a call. Nobody waits for their results.
func (rc *Receiver) storeBatch(
	ctx context.Context, c *checked, complete func(*sluice.Event),
) (event *sluice.Event, result sluice.Result, err error) {
	c.wait = 0
	b, err := rc.batch(c, complete)
	if err == nil { // each of them has the headers
		headers := len(b.Items) * len(b.Call.AppendJSON(nil))
		err = rc.Bodies.Grow(ctx, &c.memory, limit.Copies*int64(len(c.body))+2*int64(headers))
	}
	if err == nil {
		result, c.stored, err = rc.Batches.AcceptBatch(ctx, b)
	}
	return b.Call, result, err
}

// batch makes the events of a checked call that brings several.
func (rc *Receiver) batch(c *checked, complete func(*sluice.Event)) (b sluice.Batch, err error) {
	sent, place, call := c.items, c.listPlace(), rc.callOf(c.found)
	b.Call = rc.event(c) // from here on the body has no redacted members
	complete(b.Call)
	b.Call.CE, b.Call.PayloadEncoding = nil, sluice.EncodingNone
	kept := sent
	if c.redacted {
		if kept, _ = place.Items(c.body); len(kept) != len(sent) {
			return b, sluice.CodePayloadInvalid.Errorf("The list of events is among what this webhook never stores.")
		}
	}
	ids := c.trust.ItemIDs(place)
	media, kinds := sender.ItemType(b.Call.ContentType), place.Within(c.trust.EventTypeOf(&c.hook))
	header := http.Header{"Content-Type": {media}, "Ce-Id": call.Header["Ce-Id"]}
	for i, item := range sent {
		e := *b.Call
		e.ContentType, e.CE = media, cloudEvent(header, kept[i])
		if e.Type = sender.EventType(kinds, &e, kept[i]); e.Type == "" {
			e.Type = sender.EventType(kinds, &e, c.body)
		}
		c.encodeItem(&e, kept[i])
		if err := c.identify(&e, ids, call, item, kept[i], i); err != nil {
			return b, err
		}
		b.Items = append(b.Items, &e)
	}
	b.Number()
	return b, nil
}

// identify gives an event the id of its item, which is shown without redacted members.
func (c *checked) identify(
	e *sluice.Event, ids sender.Dedupe, call *sender.Call, sent, kept []byte, index int,
) error {
	item := *call
	item.Body, item.Header = sent, call.Header.Clone()
	item.Header.Set("Content-Type", e.ContentType)
	id, err := ids.ItemID(call, &item, index)
	if id == "" || err != nil || c.blurred && c.looksLikeOthers(id) {
		return err
	}
	e.SetFingerprint(c.hook.IDKey, c.hook.UUID, id, sent, c.trust.Window())
	if e.DeliveryID = id; c.redacted {
		item.Body = kept
		e.DeliveryID, _ = ids.ItemID(call, &item, index)
	}
	return nil
}

// encodeItem gives an event its item as the payload, in the form that the webhook wants.
func (c *checked) encodeItem(e *sluice.Event, item []byte) {
	switch c.hook.PayloadType {
	case sluice.Ignore:
		e.PayloadEncoding = sluice.EncodingNone
	case sluice.Raw:
		e.Payload, e.PayloadEncoding = item, sluice.EncodingJSON
	default:
		e.PayloadEncoding = sluice.EncodingBase64
		e.AppendPayload = func(b []byte) []byte { return form.AppendBinary(b, item) }
	}
}

// observeItems reports the events that a call has brought, each as a call of its own.
func (rc *Receiver) observeItems(c *checked, call *sluice.Call) {
	if !c.batch || call.CorrelationID == "" {
		return
	}
	for _, item := range c.stored {
		one := *call
		one.TraceID, one.CorrelationID, one.DeliveryID = item.TraceID, item.CorrelationID, item.DeliveryID
		one.Type, one.Size, one.Batch = item.Type, len(c.items[item.Batch.Index]), item.Batch
		one.Listeners, one.Status = item.Listeners, sluice.StatusBefore(item.Listeners)
		rc.Observe(one)
	}
	call.Split = &sluice.Split{Events: len(c.stored), Duplicates: len(c.items) - len(c.stored)}
}
