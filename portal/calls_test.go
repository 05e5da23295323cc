package portal_test

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestASearchForgives: a part of a call's data finds it, and the list says what was not
// searched.
func TestASearchForgives(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.stripe.charge", "payloadType": "raw"})
	other := s.command("webhook.put", map[string]any{"eventKey": "webhook.other"})
	s.store("picky", "pipeline:\n  - event.listen: {eventKey: webhook.stripe.charge}\n  - assert: {\"true\": \"#{body.payload.n > 0}\", message: The number is too small.}\n")
	bad := s.call(hook["uuid"].(string), "application/json", `{"n":-1,"who":"Grace Hopper"}`)
	plain := s.call(other["uuid"].(string), "text/plain", "Grace, too")
	v := s.signedIn("admin", adminPassword)
	for search, found := range map[string]string{
		"search=STRIPE": bad, "search=too+small": bad, "search=" + bad[9:]: bad, "search=other": plain, "code=assertion-failed": bad, "search=" + strings.ToUpper(bad): bad,
		"search=hopper&payloads=yes": bad, "search=grace,&payloads=yes": plain, "eventKey=webhook.other": plain, "status=error": bad,
	} {
		other := map[string]string{bad: plain, plain: bad}[found]
		v.get("/calls?"+search).wants(t, 200, found).lacks(t, other)
	}
	v.get("/calls?search=hopper").wants(t, 200, "No calls found", "Search in payloads").lacks(t, bad)
	v.get("/calls?search=stripe").wants(t, 200, "The number is too small.", "assertion-failed", `<small>1</small>`)
	v.get("/calls/"+bad).wants(t, 200, "As curl", "--data-binary", "token: TOKEN", "As it came")
	v.get("/calls?search="+strings.Repeat("x", 300)).wants(t, 400, "at most 200 characters")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	vera := s.signedIn("vera", "a long password")
	vera.get("/calls?search=stripe").wants(t, 200, bad, "assertion-failed").lacks(t, "in payloads", "The number is too small.")
	vera.get("/calls?search=hopper&payloads=yes").wants(t, 403, "trace.payload")
	vera.get("/calls/"+bad).wants(t, 200, "assertion-failed").lacks(t, "The number is too small.", "Hopper", "As curl", "Edit and send again")
}

// TestCallsAreExported: a list, or the selected calls, are exported as JSON lines. Only
// selected calls have payloads.
func TestCallsAreExported(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.a", "payloadType": "raw"})
	var traces []string
	for range 3 {
		traces = append(traces, s.call(hook["uuid"].(string), "text/plain", "private"))
	}
	v := s.signedIn("admin", adminPassword)
	lines := func(got answer) (found []string) {
		t.Helper()
		got.wants(t, 200)
		if kind := got.header.Get("Content-Disposition"); !strings.Contains(kind, "calls.jsonl") {
			t.Errorf("it is %s", kind)
		}
		for line := range strings.Lines(got.body) {
			var call map[string]any
			if err := json.Unmarshal([]byte(line), &call); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			found = append(found, call["traceId"].(string))
		}
		return found
	}
	all := v.get("/calls/export?eventKey=webhook.a")
	if found := lines(all); len(found) != 3 || found[0] != traces[2] {
		t.Errorf("the export has %v", found)
	}
	all.lacks(t, "private")
	ticked := v.post("/calls/selected", "do", "export", "trace", traces[0], "trace", traces[2])
	if found := lines(ticked); len(found) != 2 || found[0] != traces[0] {
		t.Errorf("the export has %v", found)
	}
	ticked.wants(t, 200, "private")
	v.post("/calls/selected", "do", "export").wants(t, 400, "Select at least one row")
}

// TestCallsLeadToThoseBeside: a call leads to the previous and next one of its webhook.
func TestCallsLeadToThoseBeside(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.row"})
	other := s.command("webhook.put", map[string]any{"eventKey": "webhook.other"})
	var traces []string
	for range 3 {
		traces = append(traces, s.call(hook["uuid"].(string), "text/plain", "x"))
		s.call(other["uuid"].(string), "text/plain", "x")
	}
	v := s.signedIn("admin", adminPassword)
	leads := func(from, to string) {
		t.Helper()
		if got := v.get("/calls/"+from).wants(t, 303).header.Get("Location"); !strings.HasSuffix(got, "/calls/"+url.PathEscape(to)) && !strings.HasSuffix(got, "/calls/"+to) {
			t.Errorf("%s leads to %s, want %s", from, got, to)
		}
	}
	leads(traces[0]+"/next", traces[1])
	leads(traces[1]+"/next", traces[2])
	leads(traces[2]+"/next", traces[2]+"?done=last")
	leads(traces[2]+"/previous", traces[1])

	// Replays of the same millisecond have the same time.
	for range 20 {
		s.call(hook["uuid"].(string), "text/plain", "x")
	}
	s.command("event.replay", map[string]any{"eventKey": "webhook.row", "since": "1h", "rate": 1000})
	calls := s.command("trace.get", map[string]any{"eventKey": "webhook.row"})["items"].([]any)
	trace := func(i int) string { return calls[i].(map[string]any)["traceId"].(string) }
	for i := range len(calls) - 1 {
		leads(trace(i)+"/previous", trace(i+1))
		leads(trace(i+1)+"/next", trace(i))
	}
}

// TestOnlyWhatIsReplayedIsCounted: a pipeline gets only the calls that it failed on.
func TestOnlyWhatIsReplayedIsCounted(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.both"})
	const source = "pipeline:\n  - event.listen: {eventKey: webhook.both}\n  - "
	s.store("fails", source+"fail: {message: no, statusCode: 400}\n")
	s.store("works", source+"set: {value: fine}\n")
	for range 2 {
		s.call(hook["uuid"].(string), "text/plain", "x")
	}
	v := s.signedIn("admin", adminPassword)
	v.get("/calls/replay?status=error&pipeline=fails").wants(t, 200, "the last day: 2 calls")
	v.get("/calls/replay?status=error&pipeline=works").wants(t, 200, "the last day: 0 calls")
	v.post("/calls/replay", "pipeline", "works", "since", "1d").wants(t, 200, "No stored event matches")
}

// TestTheKeyboardWorksOnCalls: / searches, j and k move, x ticks, Enter opens;
// what is ticked is replayed together.
func TestTheKeyboardWorksOnCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.keys"})
	for range 3 {
		s.call(hook["uuid"].(string), "text/plain", "x")
	}
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/calls")
	b.press("/")
	if focus := eval[string](b, `document.activeElement.id`); focus != "search" {
		t.Errorf("/ leads to %q", focus)
	}
	b.do(chromedp.Focus(chromedp.CSS("#main")))
	b.press("jjk")
	row := func(n string) string { return `document.querySelectorAll("tr[data-row]")[` + n + `]` }
	if !eval[bool](b, row("0")+`.contains(document.activeElement)`) {
		t.Error("j and k do not lead back to the first row")
	}
	b.press("xjx")
	b.wants("2 selected")
	b.followText("Replay")
	b.wants("2 events replayed", "2 ok, 0 failed.")
	b.open("/calls")
	b.wants("replay")
	b.do(chromedp.Focus(chromedp.CSS("#main")))
	b.press("j")
	trace := eval[string](b, row("0")+`.dataset.trace`)
	b.leads("\r")
	b.wants(trace, "How it went")
	b.followText("Previous")
	if eval[string](b, `document.querySelector("h1 code").textContent`) == trace {
		t.Error("the previous call is the same one")
	}
	b.followText("Next")
	b.wants(trace)
	b.followText("Next")
	b.wants("There is no further call")
	b.leads("j") // as in the list, where the call before is below
	b.until(`document.querySelector("h1 code").textContent !== "` + trace + `"`)
	b.open("/calls")
	const height = `document.querySelector("tr[data-row]").offsetHeight`
	dense := eval[int](b, height)
	b.do(chromedp.Click(chromedp.CSS("[data-density]")))
	b.until(height + ` > ` + strconv.Itoa(dense))
	b.open("/calls") // which remembers it
	b.until(height + ` > ` + strconv.Itoa(dense) + ` && document.querySelector("[data-density]").textContent === "Dense rows"`)
	b.do(chromedp.Click(chromedp.CSS("[data-shortcuts]")))
	b.waits("dialog[open]")
}

// TestTimesAreTheReaders: a page shows the time where the reader is, with UTC
// beside it, and filters by it.
func TestTimesAreTheReaders(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.time"})
	trace := s.call(hook["uuid"].(string), "text/plain", "x")
	b := s.browse()
	b.inZone("Pacific/Kiritimati") // 14 hours ahead
	b.signIn("admin", adminPassword)
	b.open("/calls")
	at := eval[string](b, `document.querySelector("tr[data-row] time").dateTime`)
	utc, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	there := utc.In(time.FixedZone("", 14*60*60))
	if shown := b.text("tr[data-row] time"); !strings.Contains(shown, there.Format("15:04:05")) {
		t.Errorf("the page shows %s, want %s", shown, there.Format("15:04:05"))
	}
	if title := eval[string](b, `document.querySelector("tr[data-row] time").title`); !strings.Contains(title, utc.Format("15:04:05")+" UTC") {
		t.Errorf("on hover it is %q", title)
	}
	b.fill("#from", there.Add(-time.Minute).Format("2006-01-02T15:04"))
	b.follow("form[role=search] button")
	b.wants("webhook.time")
	if from := eval[string](b, `new URL(location.href).searchParams.get("from")`); !strings.HasPrefix(from, utc.Add(-time.Minute).Format("2006-01-02T15:04")) {
		t.Errorf("the filter is from %s", from)
	}
	b.wants("webhook.time")
	if !eval[bool](b, `document.querySelector("tr[data-trace='`+trace+`']") !== null`) {
		t.Error("the call is not in the list")
	}
}

// TestACallIsEditedAndSentAgain: with another payload it is a new call, signed as
// its sender would.
func TestACallIsEditedAndSentAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.stripe", "payloadType": "raw", "provider": "stripe", "signingSecret": "whsec_test"})
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/webhooks/webhook.stripe")
	b.fill("#payload", `{"id":"evt_1"}`)
	b.follow("form[action$='try#try'] button")
	b.wants("Accepted and kept, but no pipeline listens")
	b.follow(".note a")
	b.wants(`"id": "evt_1"`)
	b.followText("Edit and send again")
	b.fill("#payload", `{"id":"evt_2","edited":true}`)
	b.follow("main form button.main")
	b.wants("Sent: this is the new call.", `"edited": true`)
	v := s.signedIn("admin", adminPassword)
	v.post("/webhooks/webhook.stripe/try", "media", "application/json", "payload", "{broken").wants(t, 200, "not valid JSON").lacks(t, `class="note good"`)
	v.post("/calls/x:y/edit", "eventKey", "webhook.stripe", "payload", "{}", "headers", "no colon").wants(t, 200, "not written as name: value")
}

// TestASearchGoesOn: the page continues an unfinished search by itself.
func TestASearchGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.far", "payloadType": "raw"})
	trace := s.call(hook["uuid"].(string), "text/plain", "far back")
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/calls?eventKey=webhook.far")
	b.waits(`tr[data-trace="` + trace + `"]`)
	// As if the search had looked at none of the calls yet.
	eval[bool](b, `(document.querySelector("[data-rows]").replaceChildren(),
		document.querySelector("[data-end]").innerHTML = '<p data-searched>Searched so far. <a rel="next" href="/calls?search=back&payloads=yes">Search further back</a></p>', searchOn(), true)`)
	b.waits(`tr[data-trace="` + trace + `"]`)
	b.until(`document.querySelector("[data-searched]") === null`)
}

// TestARunIsToldOfBeforeItsCall: a call is reported when it is answered, and its run may
// have ended by then.
func TestARunIsToldOfBeforeItsCall(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	b.signIn("admin", adminPassword)
	const (
		run  = `({traceId: "abcdef:1", pipeline: "broken", status: "error", error: {detail: "Closed."}})`
		call = `({traceId: "abcdef:1", eventKey: "webhook.a", status: "processing", time: new Date().toISOString(), size: 2})`
	)
	eval[bool](b, `(actions.rows.run`+run+`, actions.rows.call`+call+`, true)`)
	b.until(`document.querySelector('[data-trace="abcdef:1"]').innerText.match(/failed[^]*Closed\./) !== null`)
	b.open("/calls")
	eval[bool](b, `(actions.wait.run`+run+`, actions.wait.call`+call+`, showNewer(), true)`)
	b.until(`document.querySelector('[data-trace="abcdef:1"]').innerText.match(/failed[^]*Closed\./) !== null`)
}

// TestFailuresAreNotified: while the overview is open, the browser notifies people of a
// failed run once, if they want that.
func TestFailuresAreNotified(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.a", "payloadType": "raw"})
	s.store("broken", "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - fail: {message: <b>Closed.</b>, statusCode: 400}\n")
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.waits(".live.on")
	eval[bool](b, `(window.heard = [], window.Notification = class extends EventTarget {
		static permission = "default";
		static async requestPermission() { return this.permission = "granted"; }
		constructor(title, options) { super(); heard.push(title + ": " + options.body); }
	}, true)`)
	b.do(chromedp.Click(chromedp.CSS("[data-notify]")))
	b.until(`document.querySelector("[data-notify]").textContent === "Stop notifying me"`)
	for range 3 {
		s.call(hook["uuid"].(string), "application/json", `{}`)
	}
	b.until(`document.querySelectorAll("[data-rows] .badge.bad").length === 3`)
	if told := eval[string](b, `heard.join("; ")`); !strings.HasPrefix(told, "A run of broken failed: ") || !strings.HasSuffix(told, "<b>Closed.</b>") || strings.Contains(told, ";") {
		t.Errorf("it is told %q", told)
	}
}

// TestACallIsErased: whoever may is asked first, and then nothing of it is left but that it was.
func TestACallIsErased(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.personal", "payloadType": "raw"})
	trace := s.call(hook["uuid"].(string), "text/plain", "eve@example.com")
	s.command("event.replay", map[string]any{"traceId": trace})
	s.command("iam.user.put", map[string]any{"username": "sam", "password": "a long password", "roles": []string{"support"}})
	path := "/calls/" + trace
	sam := s.signedIn("sam", "a long password")
	sam.get(path).wants(t, 200).lacks(t, path+"/erase")
	sam.post(path+"/erase").wants(t, 403)
	v := s.signedIn("admin", adminPassword)
	v.get(path).wants(t, 200, path+"/erase", "eve@example.com")
	v.get(path+"/erase").wants(t, 200, "Erase this call?", "1 replay or copy goes with it.", "Erase the call")
	v.get(v.post(path+"/erase").wants(t, 303).header.Get("Location")).wants(t, 200, "Its payload, headers and results were erased.").lacks(t, "eve@example.com", path+"/erase", path+"/replay")
}
