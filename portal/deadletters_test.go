package portal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSomethingBrokeAtNight: a failing pipeline is seen on every page, its events
// are grouped by their error, and once it is mended all of them are replayed
// together.
func TestSomethingBrokeAtNight(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.orders", "payloadType": "raw"})
	const broken = "pipeline:\n  - event.listen: {eventKey: webhook.orders}\n  - fail: {message: The warehouse is closed., statusCode: 400}\n"
	s.store("orders", broken)
	for range 6 {
		s.call(hook["uuid"].(string), "application/json", `{"n":1}`)
	}
	s.command("iam.user.put", map[string]any{"username": "sam", "password": "a long password", "roles": []string{"support"}})
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.wants("The pipeline orders has been failing")
	b.open("/deadletters")
	b.wants("orders", "6 events", "The warehouse is closed.")
	mended := strings.Replace(broken, "fail: {message: The warehouse is closed., statusCode: 400}", "set: {value: fine}", 1)
	s.store("orders", mended)
	b.do(chromedp.Click(chromedp.CSS("tbody input")))
	b.follow(".bulk button.main")
	b.wants("1 event replayed")
	b.open("/deadletters")
	b.follow(".cards button[value=replay]")
	b.wants("5 events replayed")
	b.until(`document.querySelector("#result").textContent.includes("5 ok, 0 failed.")`)
	b.open("/deadletters")
	b.wants("No dead letters")
	sam := s.signedIn("sam", "a long password")
	sam.get("/calls?status=error").wants(t, 200, "Replay all that failed")
	sam.get("/calls/replay?status=recovered&eventKey=webhook.orders").wants(t, 200, "the last day: 0 calls", "webhook.orders")
	s.store("orders", broken)
	s.call(hook["uuid"].(string), "application/json", `{"n":7}`)
	s.store("orders", mended)
	result := sam.post("/calls/replay", "eventKey", "webhook.orders", "since", "1h").wants(t, 303).header.Get("Location")
	sam.get(result).wants(t, 200, "1 event replayed", "Calls of webhook.orders")
	v := s.signedIn("admin", adminPassword)
	v.post("/pipelines/orders/pause", "do", "pause").wants(t, 303)
	v.get("/pipelines/orders?done=paused").wants(t, 200, "events wait", ">paused<", "Resume")
	v.post("/pipelines/orders/pause", "do", "resume").wants(t, 303)
	s.store("orders", broken)
	s.call(hook["uuid"].(string), "application/json", `{"n":1}`)
	b.eventually(func() string { // the letter of the event that was replayed well is dropped soon
		if n := len(s.command("deadletter.get", map[string]any{})["items"].([]any)); n != 1 {
			return fmt.Sprintf("there are %d dead letters", n)
		}
		return ""
	})
	v.post("/deadletters/group", "pipeline", "orders", "code", "failed", "do", "delete").wants(t, 200, "Delete these dead letters?", `name="code" value="failed"`)
	v.post("/deadletters/group", "pipeline", "orders", "code", "failed", "do", "delete", "sure", "yes").wants(t, 200, "1 dead letter of orders", "deleted")
}
