package webhook

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice"
)

// TestTheOrderIsThatOfAllWebhooks: whatever is created, renamed and deleted, lists
// have the webhooks there are, in their order, page by page.
func TestTheOrderIsThatOfAllWebhooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Store{byKey: newOrder()}
		there := make(map[string]*sluice.Webhook) // by token
		newest := func(token, key string) {
			after := &sluice.Webhook{UUID: token, EventKey: key}
			s.follow(there[token], after)
			there[token] = after
		}
		start := rapid.IntRange(0, 3*maxVisited).Draw(t, "start")
		step := rapid.SampledFrom([]int{1, 7919}).Draw(t, "step") // in order, or not
		for i := range start {
			newest(fmt.Sprint("token", i), fmt.Sprintf("webhook.%06d", i*step%100_003))
		}
		for range rapid.IntRange(0, 200).Draw(t, "changes") {
			token := fmt.Sprint("token", rapid.IntRange(0, start).Draw(t, "token"))
			if there[token] != nil && rapid.Bool().Draw(t, "delete") {
				s.follow(there[token], nil)
				delete(there, token)
			} else {
				newest(token, "webhook."+rapid.StringN(0, 3, -1).Draw(t, "key")+token)
			}
		}
		var want, got []string
		for _, hook := range there {
			want = append(want, hook.EventKey)
		}
		slices.Sort(want)
		pageSize := rapid.IntRange(1, 2*maxVisited).Draw(t, "page")
		for more, after := true, ""; more; {
			var hooks []*sluice.Webhook
			hooks, more = s.list(sluice.Cover{}, "", after, pageSize)
			for _, hook := range hooks {
				got, after = append(got, hook.EventKey), hook.EventKey
				if found, err := s.WithKey(hook.EventKey); err != nil || found.UUID != hook.UUID || there[hook.UUID] != hook {
					t.Fatalf("%s leads to %+v (%v)", hook.EventKey, found, err)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the list is another one (-want +got):\n%s", diff)
		}
	})
}
