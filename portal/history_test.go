package portal_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestHistoryOfAPipeline: its page has its latest runs, however many other calls
// came since, and leads to all of them.
func TestHistoryOfAPipeline(t *testing.T) {
	t.Parallel()
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
	all.lacks(t, "webhook.often")
	_, byHand, _ := strings.Cut(all.body, `data-trace="direct:`)
	byHand, _, _ = strings.Cut(byHand, `"`)
	v.get("/calls/direct:"+byHand).wants(t, 200, "a user ran a pipeline", "seldom").lacks(t, ">Replay<")
	v.get("/calls?pipeline=%3Cscript%3E").wants(t, 200, "No calls found").lacks(t, "<script>alert")
}

// TestCallsAreFiltered: the list shows the calls that match all conditions.
func TestCallsAreFiltered(t *testing.T) {
	t.Parallel()
	s := start(t)
	token := func(key string) string {
		return s.command("webhook.put", map[string]any{"eventKey": key})["uuid"].(string)
	}
	a, b := token("webhook.a"), token("webhook.b")
	s.store("fails", "pipeline:\n  - event.listen: {eventKey: webhook.b}\n  - fail: {message: no}\n")
	good, bad := s.call(a, "text/plain", "x"), s.call(b, "text/plain", "x")
	s.call("00000000-0000-4000-8000-00000000dead", "text/plain", "x")
	v := s.signedIn("admin", adminPassword)
	minute := func(from time.Duration) string {
		return url.QueryEscape(time.Now().UTC().Add(from).Format("2006-01-02T15:04"))
	}
	const refused = "token-invalid"
	for query, shown := range map[string][]string{
		"":                                      {good, bad, refused},
		"eventKey=webhook.a":                    {good},
		"eventKey=webhook.none":                 {},
		"status=ok":                             {good},
		"status=error":                          {bad},
		"status=rejected":                       {refused},
		"status=failed":                         {bad},
		"status=error&eventKey=webhook.a":       {},
		"pipeline=fails":                        {bad},
		"trace=" + good:                         {good},
		"trace=" + b[len(b)-6:]:                 {bad},
		"trace=00dead":                          {refused},
		"from=" + minute(-time.Hour):            {good, bad, refused},
		"from=" + minute(time.Hour):             {},
		"to=" + minute(-time.Hour):              {},
		"status=ok&to=" + minute(time.Minute*2): {good},
	} {
		got := v.get("/calls?"+query).wants(t, 200, shown...)
		for _, other := range []string{good, bad, refused} {
			if !slices.Contains(shown, other) {
				got.lacks(t, other)
			}
		}
	}
	v.get("/calls?from=2026-01-02T03:04").wants(t, 200, `type="datetime-local" value="2026-01-02T03:04"`)
}
