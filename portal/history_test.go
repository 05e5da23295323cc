package portal_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestHistoryOfAPipeline: its page has its latest runs, however many other calls
// came since, and leads to all of them.
func TestHistoryOfAPipeline(t *testing.T) {
	s := start(t)
	seldom := s.command("webhook.put", map[string]any{"eventKey": "webhook.seldom", "payloadType": "raw"})["uuid"].(string)
	often := s.command("webhook.put", map[string]any{"eventKey": "webhook.often"})["uuid"].(string)
	v := s.signedIn("admin", adminPassword)
	s.store("seldom", "pipeline:\n  - event.listen: {eventKey: 'webhook.seldom.#'}\n  - set: {value: 1}\n")
	v.get("/pipelines/seldom").wants(t, 200, "No runs yet")
	var traces []string
	for i := range 12 {
		traces = append(traces, s.call(seldom, "text/plain", fmt.Sprint(i)))
	}
	v.post("/pipelines/seldom/run", "body", `{}`).wants(t, 200, "run by hand")
	for range 60 {
		s.call(often, "text/plain", "x")
	}
	page := v.get("/pipelines/seldom").wants(t, 200, "run by hand", traces[11], traces[3], "/calls?pipeline=seldom")
	page.lacks(t, `/calls/`+traces[0], "webhook.often")
	all := v.get("/calls?pipeline=seldom").wants(t, 200, "run by hand", traces[0], traces[11], `value="seldom"`)
	all.lacks(t, "webhook.often", "data-live")
	_, byHand, _ := strings.Cut(all.body, `data-trace="direct:`)
	byHand, _, _ = strings.Cut(byHand, `"`)
	v.get("/calls/direct:"+byHand).wants(t, 200, "a user ran a pipeline", "seldom").lacks(t, ">Replay<")
	v.get("/calls?pipeline=%3Cscript%3E").wants(t, 200, "No calls found").lacks(t, "<script>alert")
}
