package portal_test

import (
	"regexp"
	"testing"

	"sluice/jetstream/natstest"
)

// TestAPersonWorks: what a pipeline leaves to somebody is done on a page, or left to others. Whoever
// may not, sees nothing of it.
func TestAPersonWorks(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	s.command("webhook.put", map[string]any{"eventKey": "webhook.claim", "payloadType": "raw"})
	s.store("claim", "pipeline:\n- event.listen: {eventKey: webhook.claim}\n- work: {queue: claims, input: '#{body.payload}'}\n- set: {value: '#{body.paid}'}\n")
	v := s.signedIn("admin", adminPassword)
	v.get("/work").wants(t, 200, "Nothing waits")
	v.get("/work/claims").wants(t, 200, "Nothing waits")
	s.call(s.token("webhook.claim"), "application/json", `{"amount":"<b>7"}`)
	natstest.Eventually(t, "the work", func() bool {
		return len(s.command("work.get", map[string]any{"queue": "claims"})["items"].([]any)) == 1
	})
	v.get("/").wants(t, 200, `href="/work"`)
	v.get("/work").wants(t, 200, `href="/work/claims"`)
	v.get("/work/claims").wants(t, 200, "by nobody", "Take the oldest").lacks(t, "amount")
	lease := regexp.MustCompile(`name="lease" value="([^"]+)"`)
	taken := v.post("/work/claims/take").wants(t, 200, "&lt;b&gt;7", "Leave it to somebody else")
	v.get("/work/claims").wants(t, 200, "by admin")
	v.get("/work/claims").wants(t, 200).lacks(t, "Take the oldest", "put off")
	if got := v.post("/work/claims/take"); got.status != 303 || got.header.Get("Location") != "/work/claims?late=yes" {
		t.Errorf("taking nothing is answered %d, and leads to %s", got.status, got.header.Get("Location"))
	}
	v.get("/work/claims?late=yes").wants(t, 200, "somebody was faster")
	if got := v.post("/work/claims/answer", "lease", lease.FindStringSubmatch(taken.body)[1], "do", "back"); got.status != 303 {
		t.Errorf("leaving it is answered %d: %s", got.status, got.body)
	}
	taken = v.post("/work/claims/take").wants(t, 200)
	mine := lease.FindStringSubmatch(taken.body)[1]
	v.post("/work/claims/answer", "lease", mine, "do", "extend").wants(t, 200, `"expires":"`)
	v.post("/work/claims/answer", "lease", mine, "value", "my text", "message", "no such claim", "do", "done").
		wants(t, 400, "or it can&#39;t be", ">my text<", ">no such claim<", mine).lacks(t, "yours until")
	v.get("/work/claims").wants(t, 200, "by admin")
	s.command("work.fail", map[string]any{"lease": mine, "statusCode": 503, "retryAfter": "1h"})
	v.get("/work/claims").wants(t, 200, "by nobody: put off, again").lacks(t, "Take the oldest")
	s.call(s.token("webhook.claim"), "application/json", `{"amount":8}`)
	natstest.Eventually(t, "more work", func() bool {
		return len(s.command("work.get", map[string]any{"queue": "claims"})["items"].([]any)) == 2
	})
	s.command("iam.role.put", map[string]any{"role": "worker", "permissions": []string{"work.*"}})
	s.command("iam.user.put", map[string]any{"username": "wes", "password": "a long password", "roles": []string{"worker"}})
	worker := s.signedIn("wes", "a long password")
	worker.get("/work").wants(t, 200, `href="/work/claims"`)
	worker.get("/work/claims").wants(t, 200, "Take the oldest").lacks(t, `href="/calls/`)
	// Enter must not send the form, whose first button says that the work is done: each field takes several lines.
	taken = worker.post("/work/claims/take").wants(t, 200, "leaves to you", `<textarea id="message"`)
	taken.lacks(t, `href="/calls/`, `href="/pipelines/claim`, `<input id="message"`)
	mine = lease.FindStringSubmatch(taken.body)[1]
	v = worker
	if got := v.post("/work/claims/answer", "lease", mine, "value", `{"paid":true}`, "do", "done"); got.status != 303 {
		t.Errorf("the answer is answered %d: %s", got.status, got.body)
	}
	v.post("/work/claims/answer", "lease", "a.b.c.d", "value", "my <long> text", "message", "or this", "do", "fail").
		wants(t, 410, "This lease is over", ">my &lt;long&gt; text<", ">or this<").lacks(t, "What to do")
	v.get("/work/claims").wants(t, 200, "put off").lacks(t, "Take the oldest")
	s.command("iam.user.put", map[string]any{"username": "vic", "password": "a long password", "roles": []string{"viewer"}})
	viewer := s.signedIn("vic", "a long password")
	viewer.get("/").wants(t, 200).lacks(t, `href="/work"`)
	viewer.get("/work").wants(t, 403)
	viewer.post("/work/claims/take").wants(t, 403)
}
