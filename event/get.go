package event

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"sluice"
)

// Bounds on one read of the stored events. A long wait is made of short ones, so that
// it does not delay a stop of the server.
const (
	defaultEvents = 10
	maxWait       = time.Minute
	waitSlice     = 500 * time.Millisecond
)

type getParams struct {
	EventKey string         `json:"eventKey" alias:"key" required:"true" names:"listed" doc:"Key of the events, such as webhook.lead.created; * stands for one group, # at the end for any number of groups."`
	Type     string         `json:"type" doc:"Only events of this kind, such as push; * at its end stands for the rest."`
	After    string         `json:"after" doc:"The value of next in the previous answer. Without it the events begin now: there are none yet, and next says where to go on."`
	Limit    int            `json:"limit" min:"1" max:"100" doc:"At most this many. Default 10; fewer if they are large."`
	Wait     *time.Duration `json:"wait" doc:"How long to wait for an event if there is none, such as 30s; at most 1m."`
}

// A page is some events, as they are stored.
type page = sluice.List[json.RawMessage]

func (o Options) get(ctx context.Context, p getParams) (page, error) {
	if !sluice.UserFrom(ctx).May(sluice.MaySeePayload) {
		return page{}, sluice.NotPermitted(sluice.MaySeePayload)
	}
	if !sluice.ValidPattern(p.EventKey) {
		return page{}, sluice.InvalidParameter("eventKey", "The parameter eventKey must be %s; * stands for "+
			"one group, # at the end for any number of groups.", sluice.KeyRule)
	}
	if err := sluice.CheckType(p.Type); err != nil {
		return page{}, err
	}
	q := sluice.EventQuery{
		Pattern: p.EventKey, Type: p.Type, After: p.After, Limit: cmp.Or(p.Limit, defaultEvents),
		Cover: sluice.CoverFrom(ctx).And(sluice.UserFrom(ctx).Cover(sluice.MaySeePayload)),
	}
	left := time.Duration(0)
	if p.Wait != nil {
		left = min(*p.Wait, maxWait)
	}
	found, err := o.readOn(ctx, q, left)
	for i, item := range found.Items {
		found.Items[i] = sluice.CoverFrom(ctx).HideInternalsJSON(item)
	}
	if len(found.Items) > 0 {
		o.Seen(ctx, "event.get", p.EventKey)
	}
	return found, err
}

// readOn reads until there is an event, the time is up, or the caller or the
// server stops.
func (o Options) readOn(ctx context.Context, q sluice.EventQuery, left time.Duration) (page, error) {
	found := page{Items: []json.RawMessage{}}
	end := time.Now().Add(left)
	for {
		q.Wait = min(max(0, time.Until(end)), waitSlice)
		items, next, err := o.Stored.After(ctx, q)
		if err != nil {
			return found, err
		}
		q.After, found.Next = next, next
		if len(items) > 0 {
			found.Items = items
			return found, nil
		}
		over := !time.Now().Before(end) || ctx.Err() != nil
		select {
		case <-o.Stopping:
			over = true
		default:
		}
		if over {
			return found, nil
		}
	}
}
