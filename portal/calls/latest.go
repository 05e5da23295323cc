package calls

import (
	"net/url"
	"slices"

	"sluice"
	"sluice/portal/page"
)

// LatestOf returns the trace id of the latest matching call that became an event, or "".
func LatestOf(v *page.Visit, some ...any) (string, error) {
	const looked = "10"
	found, err := page.AskIfAllowed[sluice.TraceAnswer](v, "trace.get", page.Args(some...), "limit", looked)
	for _, c := range found.Items {
		if c.Accepted() {
			return c.TraceID, nil
		}
	}
	return "", err
}

// Past returns the latest calls of an event's webhook, with the call of the event
// itself. It returns none if the user may not try drafts.
func Past(v *page.Visit, event *SeenEvent) (past []sluice.CallView, err error) {
	if event == nil || event.EventKey == "" || !MayTry(v) {
		return nil, nil
	}
	const looked = "20"
	found, err := Latest(v, event.EventKey, looked)
	found = slices.DeleteFunc(found, func(c sluice.CallView) bool { return !c.Accepted() })
	if !slices.ContainsFunc(found, func(c sluice.CallView) bool { return c.TraceID == event.TraceID }) {
		found = append(found, event.call)
	}
	return found, err
}

// Latest returns the newest calls, none if the user may not see them.
func Latest(v *page.Visit, eventKey, limit string) ([]sluice.CallView, error) {
	found, err := page.AskIfAllowed[sluice.TraceAnswer](v, "trace.get", "eventKey", eventKey, "limit", limit,
		"calls", eventKey == "")
	return found.Items, err
}

// Find searches calls.
func Find(v *page.Visit, given ...any) (sluice.TraceAnswer, error) {
	return page.Ask[sluice.TraceAnswer](v, "trace.get", given...)
}

// MayTry reports whether the user may try drafts of pipelines on past calls, which reveals payloads.
func MayTry(v *page.Visit) bool { return v.May("pipeline.try") && v.User.May(sluice.MaySeePayload) }

// callPath returns the path of the page of a call.
func callPath(trace string) string { return "/calls/" + url.PathEscape(trace) }
