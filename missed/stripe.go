package missed

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// destinations stands before the id of an event destination, in version 2 of the API.
const destinations = "/v2/core/event_destinations/"

var stripe = provider{
	paths: []string{"/v1/webhook_endpoints/", destinations}, list: listStripe, fetch: fetchStripe,
	login: func(_ context.Context, a *api) error {
		if a.path == destinations {
			a.header = http.Header{"Stripe-Version": {"2025-10-29.clover"}} // the first that lists all events
		}
		return nil
	},
}

func listStripe(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	var hook struct {
		Types   []string `json:"enabled_events"`
		Payload string   `json:"event_payload"` // of a destination
	}
	if _, err := a.get(ctx, a.hook, &hook); err != nil {
		return err
	}
	if hook.Payload == "thin" {
		return listThin(ctx, a, hook.Types, from, to, see)
	}
	query := url.Values{
		"limit": {"100"}, "created[gte]": {strconv.FormatInt(from.Unix(), 10)},
		"created[lte]": {strconv.FormatInt(to.Unix(), 10)},
	}
	for {
		var page struct {
			Data []struct {
				ID   string `json:"id"`
				Type string `json:"type"`
				At   int64  `json:"created"`
			} `json:"data"`
			More bool `json:"has_more"`
		}
		if _, err := a.get(ctx, a.base+"/v1/events?"+query.Encode(), &page); err != nil {
			return err
		}
		for _, d := range page.Data {
			sent := delivery{id: d.ID, time: time.Unix(d.At, 0).UTC(), ref: "/v1/events/" + url.PathEscape(d.ID)}
			if subscribed(hook.Types, d.Type) && !see(sent) {
				return nil
			}
			query.Set("starting_after", d.ID)
		}
		if !page.More || len(page.Data) == 0 {
			return nil
		}
	}
}

// listThin: events of version 2, which destinations get without their data.
func listThin(
	ctx context.Context, a *api, types []string, from, to time.Time, see func(delivery) bool,
) error {
	query := url.Values{"limit": {"100"}, "created[gte]": {stamp(from)}, "created[lte]": {stamp(to)}}
	for address := a.base + "/v2/core/events?" + query.Encode(); address != ""; {
		var page struct {
			Data []struct {
				ID   string    `json:"id"`
				Type string    `json:"type"`
				At   time.Time `json:"created"`
			} `json:"data"`
			Next string `json:"next_page_url"`
		}
		if _, err := a.get(ctx, address, &page); err != nil {
			return err
		}
		for _, d := range page.Data {
			sent := delivery{id: d.ID, time: d.At, ref: "/v2/core/events/" + url.PathEscape(d.ID)}
			if subscribed(types, d.Type) && !see(sent) {
				return nil
			}
		}
		address = next(address, page.Next)
	}
	return nil
}

// fetchStripe asks for the event by itself: then it is written as webhooks get it.
func fetchStripe(ctx context.Context, a *api, d delivery) (event []byte, err error) {
	_, err = a.call(ctx, http.MethodGet, a.base+d.ref, nil, &event)
	return event, err
}
