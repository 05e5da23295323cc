package calls

import (
	"net/url"
	"slices"

	"sluice"
	"sluice/portal/page"
)

// LatestOf returns the trace id of the latest matching call that became an event, or "".
func LatestOf(v *page.Visit, some ...any) string {
	const looked = "10"
	for _, c := range page.AskIfAllowed[sluice.TraceAnswer](v, "trace.get", page.Args(some...), "limit", looked).Items {
		if c.Accepted() {
			return c.TraceID
		}
	}
	return ""
}

// Past returns the latest calls of an event's webhook, with the call of the event
// itself. It returns none if the user may not try drafts.
func Past(v *page.Visit, event *SeenEvent) []sluice.CallView {
	if event == nil || event.EventKey == "" || !MayTry(v) {
		return nil
	}
	const looked = "20"
	found := slices.DeleteFunc(Latest(v, event.EventKey, looked), func(c sluice.CallView) bool { return !c.Accepted() })
	if placeOf(event.call, found) < 0 {
		found = append(found, event.call)
	}
	return found
}

// Latest returns the newest calls, none if the user may not see them.
func Latest(v *page.Visit, eventKey, limit string) []sluice.CallView {
	return page.AskIfAllowed[sluice.TraceAnswer](v, "trace.get", "eventKey", eventKey, "limit", limit,
		"calls", eventKey == "").Items
}

// Find searches calls.
func Find(v *page.Visit, given ...any) sluice.TraceAnswer {
	return page.Ask[sluice.TraceAnswer](v, "trace.get", given...)
}

// MayTry reports whether the user may try drafts of pipelines on past calls, which reveals payloads.
func MayTry(v *page.Visit) bool { return v.May("pipeline.try") && v.User.May(sluice.MaySeePayload) }

// callPath returns the path of the page of a call.
func callPath(trace string) string { return "/calls/" + url.PathEscape(trace) }
