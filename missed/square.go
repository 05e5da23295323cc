package missed

import (
	"context"
	"encoding/json"
	"time"
)

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
		filter := map[string]any{"created_at": map[string]string{"start_at": stamp(from), "end_at": stamp(to)}}
		search := map[string]any{"limit": 100, "query": map[string]any{"filter": filter}}
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
