package missed

import (
	"context"
	"net/url"
	"time"
)

var svix = provider{paths: []string{"/endpoint/"}, list: listSvix, resend: func(a *api, d delivery) (string, any) {
	return a.base + "/msg/" + url.PathEscape(d.ref) + "/endpoint/" + a.id + "/resend", nil
}}

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
