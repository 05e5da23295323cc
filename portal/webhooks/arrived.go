package webhooks

import (
	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// addArrived finds the handshake and the newest call of a sender.
func addArrived(v *page.Visit, c *connection, eventKey string, latest []sluice.CallView) (err error) {
	if !v.May("trace.get") {
		return nil
	}
	if c.Handshake != "" {
		if c.Greeted, err = lastCall(v, eventKey, sluice.StatusHandshake); err != nil {
			return err
		}
	}
	for i := range latest {
		sent, err := isSent(v, &latest[i])
		if err != nil {
			return err
		}
		if !sent {
			continue
		}
		if c.First = c.Arrived == nil; !c.First { // there is an older one
			return nil
		}
		c.Arrived = &latest[i]
	}
	for _, status := range []sluice.Status{sluice.StatusOK, sluice.StatusError, sluice.StatusProcessing} {
		if c.Arrived != nil || len(latest) == 0 {
			return nil
		}
		older, err := lastCall(v, eventKey, status) // the latest calls were all rejected
		if err != nil {
			return err
		}
		if sent, err := isSent(v, older); err != nil || sent {
			c.Arrived = older
			return err
		}
	}
	return nil
}

// isSent reports whether an accepted call is its sender's. It is not if it was let out of the
// quarantine, or sent from a page, which users who may not see headers are not told.
func isSent(v *page.Visit, c *sluice.CallView) (bool, error) {
	if c == nil || !c.Accepted() || c.AdmittedOf != "" {
		return false, nil
	}
	found, err := calls.Find(v, "traceId", c.TraceID)
	return len(found.Items) == 0 || found.Items[0].Headers["user-agent"] != calls.TryAgent, err
}

// lastCall returns the newest call of a webhook with a status, or nil.
func lastCall(v *page.Visit, eventKey string, status sluice.Status) (*sluice.CallView, error) {
	found, err := calls.Find(v, "eventKey", eventKey, "status", string(status), "limit", "1")
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}
