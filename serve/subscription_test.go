package serve_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestSubscriptionSettings: checkEvery has its bounds, and needs a sender that can be asked, with
// its address and credential; nothing is stored otherwise.
func TestSubscriptionSettings(t *testing.T) {
	t.Parallel()
	s := start(t)
	fill := []string{"{hook}", s.create("webhook.hub", "provider", "github", "signingSecret", "s").UUID, "{slack}", s.create("webhook.slack", "provider", "slack", "signingSecret", "s").UUID}
	const address = "&apiUrl=https://api.github.com/repos/o/r/hooks/1"
	runScenarios(t, s, fill, []scenario{
		{name: "too often", target: "webhook.put?uuid={hook}&checkEvery=9m", status: 400, code: "parameter-invalid", parameter: "checkEvery", detail: "from 10m to 168h"},
		{name: "too seldom", target: "webhook.put?uuid={hook}&checkEvery=169h", status: 400, code: "parameter-invalid", parameter: "checkEvery"},
		{name: "no address", target: "webhook.put?uuid={hook}&checkEvery=10m", status: 400, code: "parameter-invalid", parameter: "apiUrl"},
		{name: "no credential", target: "webhook.put?uuid={hook}&checkEvery=10m" + address, status: 400, code: "parameter-invalid", parameter: "apiSecret"},
		{name: "a sender that can't be asked", target: "webhook.put?uuid={slack}&checkEvery=10m&apiSecret=x" + address, status: 400, code: "parameter-invalid", parameter: "checkEvery", detail: "microsoft-graph"},
		{name: "a check of one", target: "webhook.check?eventKey=webhook.slack", status: 400, code: "parameter-invalid", parameter: "eventKey", detail: "microsoft-graph"},
		{name: "unknown", target: "webhook.check?eventKey=webhook.none", status: 404, code: "webhook-not-found", parameter: "eventKey"},
		{name: "well", target: "webhook.put?uuid={hook}&checkEvery=10m&apiSecret=x" + address, status: 200, fields: map[string]any{"checkEvery": "10m"}},
		{name: "emptied", target: "webhook.put?uuid={hook}&checkEvery=", status: 200, fields: map[string]any{"checkEvery": nil}},
	})
}

// TestBrokenSubscriptionsAreTold: a check by hand that finds the hook gone is an alert.
func TestBrokenSubscriptionsAreTold(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(gone.Close)
	s := startFor(t, soon, "http-allow=127.0.0.0/8")
	s.create("webhook.hub", "provider", "github", "signingSecret", "s", "apiUrl", gone.URL+"/repos/o/r/hooks/1", "apiSecret", "t0ken")
	var found struct{ State string }
	s.command("webhook.check", map[string]any{"eventKey": "webhook.hub"}).wantStatus(t, 200).into(t, &found)
	if found.State != "gone" {
		t.Fatalf("it is %+v", found)
	}
	eventually(t, "the alert", func() bool {
		var open struct {
			Items []struct{ Subject string } `json:"items"`
		}
		s.command("alert.get", map[string]any{"kind": "subscription"}).wantStatus(t, 200).into(t, &open)
		return len(open.Items) == 1 && open.Items[0].Subject == "webhook.hub"
	})
}
