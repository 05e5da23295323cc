package main

import (
	"context"
	"strings"

	"sluice"
)

// checkLetters: dead letters are those of calls that failed for good, after all their attempts, unless
// they were replayed or deleted.
func (w *walk) checkLetters(ctx context.Context, byTrace map[string][]sluice.Call, replayed map[string]bool) {
	letters := make(map[string]bool)
	params := map[string]any{"limit": 1000}
	for {
		var page sluice.List[sluice.DeadLetter]
		if err := w.may(ctx, "deadletter.get", params, &page); err != nil {
			return
		}
		for _, l := range page.Items {
			letters[l.TraceID] = true
			w.checkLetter(l, byTrace[l.TraceID])
		}
		if page.Next == "" {
			break
		}
		params["after"] = page.Next
	}
	for trace, calls := range byTrace {
		if calls[0].Status == sluice.StatusError && !calls[0].Erased && !letters[trace] && !w.letters[trace] &&
			!replayed[trace] && !isRepaired(calls[0], byTrace) {
			w.blamef("the call %s of %s failed for good, and has no dead letter", trace, calls[0].EventKey)
		}
	}
}

// isRepaired reports whether a call repeats one that another replay has repaired: their letters go together.
func isRepaired(c sluice.Call, byTrace map[string][]sluice.Call) bool {
	for first := byTrace[c.ReplayOf]; len(first) > 0; first = byTrace[c.ReplayOf] {
		if c = first[0]; c.Status == sluice.StatusRecovered {
			return true
		}
	}
	return false
}

func (w *walk) checkLetter(l sluice.DeadLetter, calls []sluice.Call) {
	if len(calls) == 1 && calls[0].Status != sluice.StatusError {
		w.blamef("the call %s of %s is %s, and has a dead letter", l.TraceID, l.EventKey, calls[0].Status)
	}
	times := kindOfWalk(l.Pipeline).times
	if l.Pipeline == "sent" {
		times = 4
	}
	if l.Error.Code == "http-status" && !strings.Contains(l.Error.Detail, "404") && l.Attempts <= times {
		w.blamef("the dead letter of %s at %s was given up after %d attempts of %d", l.TraceID, l.Pipeline, l.Attempts,
			times+1)
	}
}
