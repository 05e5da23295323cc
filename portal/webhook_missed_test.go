package portal_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestMissedPage: the page asks the sender of a webhook what was missed, and gets it; it is for
// those who may.
func TestMissedPage(t *testing.T) {
	t.Parallel()
	sender := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if r.URL.Path == "/repos/o/r/hooks/1" {
			fmt.Fprint(w, `{"active":true,"events":["push"],"config":{"url":"https://old.example.com/hook/x"}}`)
			return
		}
		fmt.Fprintf(w, `[{"id":7,"guid":"guid-7","delivered_at":%q}]`, time.Now().Add(-2*time.Hour).UTC().Format(time.RFC3339))
	}))
	t.Cleanup(sender.Close)
	s := start(t, "http-allow=127.0.0.0/8")
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.code", "provider": "github", "signingSecret": "a secret of twenty characters"})
	v := s.signedIn("admin", adminPassword)
	v.get("/webhooks/webhook.code").wants(t, 200, `href="/webhooks/webhook.code/missed"`)
	v.get("/webhooks/webhook.code/missed").wants(t, 200, "GitHub has a list", "does not say where")
	v.post("/webhooks/webhook.code/missed", "since", "24h", "do", "no").wants(t, 400, "has no apiUrl")
	s.command("webhook.put", map[string]any{"uuid": hook["uuid"], "apiUrl": sender.URL + "/repos/o/r/hooks/1", "apiSecret": "t0ken", "missedEvery": "1h"})
	v.get("/webhooks/webhook.code/missed").wants(t, 200, "every 1h by itself").lacks(t, "does not say where")
	v.get("/webhooks/webhook.code/edit").wants(t, 200, sender.URL+"/repos/o/r/hooks/1").lacks(t, "t0ken")
	v.post("/webhooks/webhook.code/missed", "since", "24h", "do", "no").wants(t, 200, "1 delivery: 0 had, 1 missed", "guid-7", ">missed<")
	v.post("/webhooks/webhook.code/missed", "since", "1h", "do", "no").wants(t, 200, "Nothing is missing.")
	v.post("/webhooks/webhook.code/missed", "since", "24h", "do", "yes").wants(t, 200, ">redelivered<")
	v.post("/webhooks/webhook.code/missed", "since", "24h", "do", "check").wants(t, 200, "GitHub calls https://old.example.com with another address").lacks(t, "/hook/x")
	s.command("webhook.put", map[string]any{"eventKey": "webhook.graph", "provider": "microsoft-graph"})
	v.get("/webhooks/webhook.graph").wants(t, 200, `href="/webhooks/webhook.graph/missed"`)
	v.get("/webhooks/webhook.graph/missed").wants(t, 200, "Does it still call?", "has no list").lacks(t, "Get what is missing")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	vera := s.signedIn("vera", "a long password")
	vera.get("/webhooks/webhook.code").wants(t, 200).lacks(t, "/missed")
	vera.post("/webhooks/webhook.code/missed", "since", "24h", "do", "no").wants(t, 403)
}
