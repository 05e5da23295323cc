package portal_test

import (
	"strings"
	"testing"
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
	for _, body := range []string{`{"id":"1"}`, `{"id":"1"}`, `{"id":"1","more":"<img src=x>"}`} {
		if again := s.call(token, "application/json", body); again != first {
			t.Fatalf("a repeated delivery is %s, want %s", again, first)
		}
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
