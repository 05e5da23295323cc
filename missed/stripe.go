package missed

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

var stripe = provider{path: "/webhook_endpoints/", list: listStripe, fetch: fetchStripe}

func listStripe(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	var hook struct {
		Types []string `json:"enabled_events"`
	}
	if _, err := a.get(ctx, a.hook, &hook); err != nil {
		return err
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
	_, err = a.call(ctx, http.MethodGet, a.base+"/events/"+url.PathEscape(d.ref), nil, &event)
	return event, err
}
