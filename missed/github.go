package missed

import (
	"context"
	"encoding/json"
	"time"
)

var github = provider{list: listGitHub, resend: func(a *api, d delivery) (string, any) {
	return a.hook + "/deliveries/" + d.ref + "/attempts", nil
}}

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
