package missed

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

var gitlab = provider{list: listGitLab, resend: func(a *api, d delivery) (string, any) {
	return a.hook + "/events/" + d.ref + "/resend", nil
}}

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
		if _, err := a.get(ctx, a.hook+"/events?per_page=50&page="+strconv.Itoa(number), &page); err != nil ||
			len(page) == 0 {
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
