package missed

import (
	"context"
	"net/url"
	"time"
)

var paypal = provider{paths: []string{"/v1/notifications/webhooks/"}, login: loginPayPal, list: listPayPal,
	resend: func(a *api, d delivery) (string, any) {
		return a.base + "/v1/notifications/webhooks-events/" + url.PathEscape(d.ref) + "/resend",
			map[string][]string{"webhook_ids": {a.id}}
	}}

func loginPayPal(ctx context.Context, a *api) error { return a.login(ctx, a.base+"/v1/oauth2/token") }

// listPayPal: the events of the whole app, of which a webhook gets those of its types.
func listPayPal(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
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
