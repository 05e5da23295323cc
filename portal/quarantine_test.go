package portal_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestDuplicates: the page of a call lists repeated deliveries. One with another body
// leads to the first call and back.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.twice", "payloadType": "raw", "dedupe": "body:id"})
	token := hook["uuid"].(string)
	v := s.signedIn("admin", adminPassword)
	first := s.call(token, "application/json", `{"id":"1"}`)
	v.get("/calls/"+first).wants(t, 200).lacks(t, "Duplicates")
	for range 2 {
		if again := s.call(token, "application/json", `{"id":"1"}`); again != first {
			t.Fatalf("a repeated delivery is %s, want %s", again, first)
		}
	}
	if other := s.call(token, "application/json", `{"id":"1","more":"<img src=x>"}`); other == first {
		t.Error("a call with another body is told the first one's trace id")
	}
	page := v.get("/calls/"+first).wants(t, 200, "Duplicates", "no pipeline ran again", "with another body")
	_, rest, _ := strings.Cut(page.body, `href="/quarantine/`)
	id, _, _ := strings.Cut(rest, `"`)
	v.get("/quarantine/"+id).wants(t, 200, "Duplicate of", `href="/calls/`+first+`"`, "&lt;img src=x&gt;").lacks(t, "/calls/"+id, "<img src=x>")
	items := s.command("trace.get", map[string]any{"traceId": first})["items"].([]any)
	count := 0.0
	for _, d := range items[0].(map[string]any)["duplicates"].([]any) {
		count += d.(map[string]any)["count"].(float64)
	}
	if len(items) != 1 || count != 3 {
		t.Errorf("%d calls with %v duplicates, want 1 with 3", len(items), count)
	}
}

// TestTheQuarantine: rejected calls are listed with their reasons, looked at,
// admitted once the cause is mended, and deleted after a question.
func TestTheQuarantine(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.trusted", "payloadType": "raw", "provider": "github", "signingSecret": "a secret of twenty characters"})
	token := hook["uuid"].(string)
	for range 3 {
		s.call(token, "application/json", `{"a":"<img src=x>"}`)
	}
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/quarantine")
	b.wants("webhook.trusted", "signature-missing", "3 calls", "The header X-Hub-Signature-256 is missing.")
	b.follow(".cards button[value=admit]")
	b.wants("0 calls admitted", "3 calls were not admitted")
	b.open("/quarantine")
	b.do(chromedp.Click(chromedp.CSS("tbody input")))
	b.followText("Admit without checking")
	b.wants("1 call admitted", "pipelines run on it")
	s.signedIn("admin", adminPassword).get("/webhooks/webhook.trusted").wants(t, 200, "Connect GitHub").lacks(t, "GitHub is connected")
	b.follow("tbody a")
	b.wants(`"a": "<img src=x>"`)
	b.open("/quarantine")
	b.follow("tbody .row-link")
	b.wants("Rejected with 401", "<img src=x>")
	b.open("/quarantine")
	s.command("webhook.put", map[string]any{"uuid": token, "provider": ""})
	b.do(chromedp.Click(chromedp.CSS("tbody input")))
	b.follow(".bulk button.main")
	b.wants("1 call admitted", "pipelines run on it")
	b.open("/quarantine")
	b.followText("Delete all 1…")
	b.wants("Delete this rejected call?")
	b.followText("Delete the rejected call")
	b.wants("Deleted.", "The quarantine is empty")
	s.command("webhook.put", map[string]any{"uuid": token, "disabled": true})
	for range 103 {
		s.call(token, "application/json", `{}`)
	}
	s.command("webhook.put", map[string]any{"uuid": token, "disabled": false})
	b.open("/quarantine")
	b.wants("103 calls", "Enable the webhook")
	b.do(chromedp.Click(chromedp.CSS(".cards button[value=admit]")))
	b.until(`document.querySelector("h1")?.textContent === "103 calls admitted" && document.querySelector("form[data-go-on]") === null`) // by itself
	v := s.signedIn("admin", adminPassword)
	v.get("/quarantine/nothing").wants(t, http.StatusNotFound)
}
