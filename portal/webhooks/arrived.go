package webhooks

import (
	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// addArrived finds the handshake and the newest call of a sender.
func addArrived(v *page.Visit, c *connection, eventKey string, latest []sluice.CallView) {
	if !v.May("trace.get") {
		return
	}
	if c.Handshake != "" {
		c.Greeted = lastCall(v, eventKey, sluice.StatusHandshake)
	}
	for i := range latest {
		if !isSent(v, &latest[i]) {
			continue
		}
		if c.First = c.Arrived == nil; !c.First { // there is an older one
			return
		}
		c.Arrived = &latest[i]
	}
	for _, status := range []sluice.Status{sluice.StatusOK, sluice.StatusError, sluice.StatusProcessing} {
		if c.Arrived != nil || len(latest) == 0 {
			return
		}
		if older := lastCall(v, eventKey, status); isSent(v, older) { // the latest calls were all rejected
			c.Arrived = older
		}
	}
}

// isSent reports whether an accepted call is its sender's. It is not if it was let out of the
// quarantine, or sent from a page, which users who may not see headers are not told.
func isSent(v *page.Visit, c *sluice.CallView) bool {
	if c == nil || !c.Accepted() || c.AdmittedOf != "" {
		return false
	}
	found := calls.Find(v, "traceId", c.TraceID)
	return len(found.Items) == 0 || found.Items[0].Headers["user-agent"] != calls.TryAgent
}

// lastCall returns the newest call of a webhook with a status, or nil.
func lastCall(v *page.Visit, eventKey string, status sluice.Status) *sluice.CallView {
	found := calls.Find(v, "eventKey", eventKey, "status", string(status), "limit", "1")
	if len(found.Items) == 0 {
		return nil
	}
	return &found.Items[0]
}
