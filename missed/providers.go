package missed

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// A delivery is what a sender says it has sent.
type delivery struct {
	id    string    // the delivery id, as calls have it
	time  time.Time // zero: the sender does not say
	ref   string    // by which the sender knows it
	busy  bool      // the sender still tries, and can't be told to send it
	event []byte    // if the list has it
}

// A provider says how a sender is asked.
type provider struct {
	path string // before the id of a webhook in its address; "" if it is not needed

	// list shows deliveries to see, as long as that returns true. It may show some that are
	// not between from and to.
	list func(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error

	// again has the sender send a delivery once more.
	again func(ctx context.Context, a *api, d delivery) error

	// fetch returns the event of a delivery, where a sender can't be told to send it.
	fetch func(ctx context.Context, a *api, d delivery) ([]byte, error)
}

var providers = map[string]provider{
	"github": {list: listGitHub, again: func(ctx context.Context, a *api, d delivery) error {
		return a.post(ctx, a.hook+"/deliveries/"+d.ref+"/attempts", nil, nil)
	}},
	"gitlab": {list: listGitLab, again: func(ctx context.Context, a *api, d delivery) error {
		return a.post(ctx, a.hook+"/events/"+d.ref+"/resend", nil, nil)
	}},
	"paddle": {path: "/notification-settings/", list: listPaddle, again: func(ctx context.Context, a *api, d delivery) error {
		return a.post(ctx, a.base+"/notifications/"+url.PathEscape(d.ref)+"/replay", nil, nil)
	}},
	"paypal": {path: "/v1/notifications/webhooks/", list: listPayPal, again: func(ctx context.Context, a *api, d delivery) error {
		return a.post(ctx, a.base+"/v1/notifications/webhooks-events/"+url.PathEscape(d.ref)+"/resend", map[string][]string{"webhook_ids": {a.id}}, nil)
	}},
	"square": {path: "/webhooks/subscriptions/", list: listSquare, fetch: func(_ context.Context, _ *api, d delivery) ([]byte, error) { return d.event, nil }},
	"stripe": {path: "/webhook_endpoints/", list: listStripe, fetch: fetchStripe},
	"svix": {path: "/endpoint/", list: listSvix, again: func(ctx context.Context, a *api, d delivery) error {
		return a.post(ctx, a.base+"/msg/"+url.PathEscape(d.ref)+"/endpoint/"+a.id+"/resend", nil, nil)
	}},
}

// listGitHub: newest first; each attempt is an entry of its own with the same guid.
func listGitHub(ctx context.Context, a *api, from, _ time.Time, see func(delivery) bool) error {
	for address := a.hook + "/deliveries?per_page=100"; address != ""; {
		var page []struct {
			ID   json.Number `json:"id"`
			GUID string      `json:"guid"`
			At   time.Time   `json:"delivered_at"`
		}
		header, err := a.get(ctx, address, &page)
		if err != nil {
			return err
		}
		for _, d := range page {
			if d.At.Before(from) || !see(delivery{id: d.GUID, time: d.At, ref: d.ID.String()}) {
				return nil
			}
		}
		address = next(address, linked(header))
	}
	return nil
}

// listGitLab: the events of 7 days. They have no time of their own, but the reply of the server
// that was called may have one.
func listGitLab(ctx context.Context, a *api, _, _ time.Time, see func(delivery) bool) error {
	for number := 1; ; number++ {
		var page []struct {
			ID      json.Number       `json:"id"`
			At      time.Time         `json:"created_at"`
			Request map[string]string `json:"request_headers"`
			Reply   map[string]string `json:"response_headers"`
		}
		if _, err := a.get(ctx, a.hook+"/events?per_page=50&page="+strconv.Itoa(number), &page); err != nil || len(page) == 0 {
			return err
		}
		for _, d := range page {
			if d.At.IsZero() {
				d.At, _ = http.ParseTime(d.Reply["Date"]) // zero without one
			}
			if !see(delivery{id: d.Request["Idempotency-Key"], time: d.At, ref: d.ID.String()}) {
				return nil
			}
		}
	}
}

// listPaddle: a replay is a notification of its own, and can't be replayed.
func listPaddle(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	query := url.Values{"notification_setting_id": {a.id}, "from": {stamp(from)}, "to": {stamp(to)}, "per_page": {"200"}}
	for address := a.base + "/notifications?" + query.Encode(); address != ""; {
		var page struct {
			Data []struct {
				ID      string    `json:"id"`
				Status  string    `json:"status"`
				Origin  string    `json:"origin"`
				At      time.Time `json:"occurred_at"`
				Payload struct {
					EventID string `json:"event_id"`
				} `json:"payload"`
			} `json:"data"`
			Meta struct {
				Pagination struct {
					Next string `json:"next"`
					More bool   `json:"has_more"`
				} `json:"pagination"`
			} `json:"meta"`
		}
		if _, err := a.get(ctx, address, &page); err != nil {
			return err
		}
		for _, d := range page.Data {
			sent := delivery{id: d.Payload.EventID, time: d.At, ref: d.ID, busy: d.Status != "delivered" && d.Status != "failed" || d.Origin == "replay"}
			if !see(sent) {
				return nil
			}
		}
		if address = next(address, page.Meta.Pagination.Next); !page.Meta.Pagination.More {
			return nil
		}
	}
	return nil
}

// listPayPal: the events of the whole app, of which a webhook gets those of its types.
func listPayPal(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	var login struct {
		Token string `json:"access_token"`
	}
	if err := a.post(ctx, a.base+"/v1/oauth2/token", url.Values{"grant_type": {"client_credentials"}}, &login); err != nil {
		return err
	}
	a.bearer = login.Token
	var hook struct {
		Types []struct {
			Name string `json:"name"`
		} `json:"event_types"`
	}
	if _, err := a.get(ctx, a.hook, &hook); err != nil {
		return err
	}
	var types []string
	for _, t := range hook.Types {
		types = append(types, t.Name)
	}
	query := url.Values{"start_time": {stamp(from)}, "end_time": {stamp(to)}, "page_size": {"100"}}
	for address := a.base + "/v1/notifications/webhooks-events?" + query.Encode(); address != ""; {
		var page struct {
			Events []struct {
				ID   string    `json:"id"`
				Type string    `json:"event_type"`
				At   time.Time `json:"create_time"`
			} `json:"events"`
			Links []struct {
				Href string `json:"href"`
				Rel  string `json:"rel"`
			} `json:"links"`
		}
		if _, err := a.get(ctx, address, &page); err != nil {
			return err
		}
		for _, d := range page.Events {
			if subscribed(types, d.Type) && !see(delivery{id: d.ID, time: d.At, ref: d.ID}) {
				return nil
			}
		}
		following := ""
		for _, link := range page.Links {
			if link.Rel == "next" {
				following = link.Href
			}
		}
		address = next(address, following)
	}
	return nil
}

// listSquare: searches need the Events API, which is enabled once for an application.
func listSquare(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	var hook struct {
		Subscription struct {
			Types []string `json:"event_types"`
		} `json:"subscription"`
	}
	if _, err := a.get(ctx, a.hook, &hook); err != nil {
		return err
	}
	for cursor := ""; ; {
		search := map[string]any{"limit": 100, "query": map[string]any{"filter": map[string]any{"created_at": map[string]string{"start_at": stamp(from), "end_at": stamp(to)}}}}
		if cursor != "" {
			search["cursor"] = cursor
		}
		var page struct {
			Events []json.RawMessage `json:"events"`
			Cursor string            `json:"cursor"`
		}
		if err := a.post(ctx, a.base+"/events", search, &page); err != nil {
			return err
		}
		for _, event := range page.Events {
			var d struct {
				ID   string    `json:"event_id"`
				Type string    `json:"type"`
				At   time.Time `json:"created_at"`
			}
			if err := json.Unmarshal(event, &d); err != nil {
				return a.refused("an event can't be read", err)
			}
			if subscribed(hook.Subscription.Types, d.Type) && !see(delivery{id: d.ID, time: d.At, event: event}) {
				return nil
			}
		}
		if cursor = page.Cursor; cursor == "" {
			return nil
		}
	}
}

func listStripe(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	var hook struct {
		Types []string `json:"enabled_events"`
	}
	if _, err := a.get(ctx, a.hook, &hook); err != nil {
		return err
	}
	query := url.Values{"limit": {"100"}, "created[gte]": {strconv.FormatInt(from.Unix(), 10)}, "created[lte]": {strconv.FormatInt(to.Unix(), 10)}}
	for {
		var page struct {
			Data []struct {
				ID   string `json:"id"`
				Type string `json:"type"`
				At   int64  `json:"created"`
			} `json:"data"`
			More bool `json:"has_more"`
		}
		if _, err := a.get(ctx, a.base+"/events?"+query.Encode(), &page); err != nil {
			return err
		}
		for _, d := range page.Data {
			if subscribed(hook.Types, d.Type) && !see(delivery{id: d.ID, time: time.Unix(d.At, 0).UTC(), ref: d.ID}) {
				return nil
			}
			query.Set("starting_after", d.ID)
		}
		if !page.More || len(page.Data) == 0 {
			return nil
		}
	}
}

// fetchStripe asks for the event by itself: then it is written as webhooks get it.
func fetchStripe(ctx context.Context, a *api, d delivery) (event []byte, err error) {
	_, err = a.get(ctx, a.base+"/events/"+url.PathEscape(d.ref), &event)
	return event, err
}

func listSvix(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	query := url.Values{"limit": {"250"}, "after": {stamp(from)}, "before": {stamp(to)}}
	for {
		var page struct {
			Data []struct {
				ID string    `json:"id"`
				At time.Time `json:"timestamp"`
			} `json:"data"`
			Iterator string `json:"iterator"`
			Done     bool   `json:"done"`
		}
		if _, err := a.get(ctx, a.hook+"/msg?"+query.Encode(), &page); err != nil {
			return err
		}
		for _, d := range page.Data {
			if !see(delivery{id: d.ID, time: d.At, ref: d.ID}) {
				return nil
			}
		}
		if page.Done || page.Iterator == "" {
			return nil
		}
		query.Set("iterator", page.Iterator)
	}
}

// subscribed reports whether a webhook gets events of a type. * stands for all.
func subscribed(types []string, of string) bool {
	return slices.Contains(types, "*") || slices.Contains(types, of)
}

func stamp(t time.Time) string { return cmp.Or(t, time.Now()).UTC().Format(time.RFC3339) }
