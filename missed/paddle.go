package missed

import (
	"context"
	"net/url"
	"time"
)

var paddle = provider{paths: []string{"/notification-settings/"}, list: listPaddle,
	resend: func(a *api, d delivery) (string, any) {
		return a.base + "/notifications/" + url.PathEscape(d.ref) + "/replay", nil
	}}

// listPaddle: a replay is a notification of its own, and can't be replayed.
func listPaddle(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error {
	query := url.Values{
		"notification_setting_id": {a.id}, "from": {stamp(from)}, "to": {stamp(to)}, "per_page": {"200"},
	}
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
			sent := delivery{
				id: d.Payload.EventID, time: d.At, ref: d.ID, busy: d.Status != "delivered" && d.Status != "failed" ||
					d.Origin == "replay",
			}
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
