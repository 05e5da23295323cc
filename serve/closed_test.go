package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"sluice"
)

// closings returns what server.closed shows.
func (s *service) closings() []sluice.Closing {
	s.t.Helper()
	var found sluice.List[sluice.Closing]
	s.command("server.closed", nil).wantStatus(s.t, http.StatusOK).into(s.t, &found)
	return found.Items
}

// TestClosedTimes: a stop is found at the next start, with the webhooks whose senders don't
// try again, in the ledger, the log and the alerts.
func TestClosedTimes(t *testing.T) {
	t.Parallel()
	s := start(t)
	github := s.create("webhook.github", "provider", "github", "signingSecret", "a secret of GitHub's")
	s.call(github, "application/json", "{}").wantStatus(t, http.StatusUnauthorized) // it counts as well
	s.call(s.create("webhook.own"), "text/plain", "x").wantStatus(t, http.StatusOK)
	if found := s.closings(); len(found) > 0 {
		t.Errorf("after the first start: %+v", found)
	}
	s.stop()
	s.resume()
	eventually(t, "the closing", func() bool { return len(s.closings()) == 1 })
	found := s.closings()[0]
	if found.Cause != sluice.ClosedByStop || !found.From.Before(found.To) || len(found.Webhooks) != 2 ||
		found.Webhooks[0].EventKey != "webhook.github" || found.Webhooks[0].Retries != "none" || found.Webhooks[1].Retries != "unknown" {
		t.Errorf("found %+v", found)
	}
	eventually(t, "the alert", func() bool {
		alerts := string(s.command("alert.get", map[string]any{"kind": "closed"}).body)
		return strings.Contains(alerts, "No calls were taken for") && strings.Contains(alerts, "webhook.github")
	})
	if !strings.Contains(s.log.String(), "No calls were taken for") {
		t.Error("the log says nothing of it")
	}
}
