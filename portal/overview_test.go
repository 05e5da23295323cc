package portal_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sluice/jetstream/natstest"
)

// TestTheOverviewAgrees: tiles, plots and lists tell the same of each call, in the
// reader's time; they move with the calls, and a bar leads to its calls.
func TestTheOverviewAgrees(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	token := func(key string, more ...string) string {
		params := map[string]any{"eventKey": key, "payloadType": "raw"}
		for i := 0; i+1 < len(more); i += 2 {
			params[more[i]] = more[i+1]
		}
		return s.command("webhook.put", params)["uuid"].(string)
	}
	orders := token("webhook.orders")
	s.store("orders", "pipeline:\n  - event.listen: {eventKey: webhook.orders}\n  - assert: {\"true\": \"#{body.payload.n > 0}\", message: Too small.}\n")
	for _, body := range []string{`{"n":1}`, `{"n":-1}`, `{"n":-2}`} {
		s.call(orders, "application/json", body)
	}
	s.call(token("webhook.signed", "provider", "github", "signingSecret", "a secret of twenty characters"), "application/json", `{}`)
	s.call("00000000-0000-4000-8000-000000000000", "text/plain", "wrong")
	b := s.browse()
	b.inZone("Asia/Kathmandu") // 5:45 ahead, so that no hour fits
	b.signIn("admin", adminPassword)
	b.waits(".live.on")
	tiles := func(want string) {
		t.Helper()
		b.until(`[...document.querySelectorAll(".figures b")].map((b) => b.textContent).join() === "` + want + `"`)
	}
	tiles("1,0,0,2,2,2")
	// The sums of what the bars tell.
	const told = `[...document.querySelectorAll("figure")][0].querySelectorAll(".spot").values().reduce((sums, spot) =>
		spot.textContent.split(" UTC: ")[1].match(/\d+/g).map((n, i) => sums[i] + Number(n)), [0, 0, 0, 0, 0]).join()`
	if sums := eval[string](b, told); sums != "1,0,0,2,2" {
		t.Errorf("the bars tell %s", sums)
	}
	b.until(`["Busiest webhooks in the last 24 h", "webhook.orders 1 0 0 2 0", "webhook.signed 0 0 0 0 1"].every((text) =>
		document.querySelector("[data-figures=busiest]").innerText.replace(/\s+/g, " ").includes(text))`)
	const attention = `document.querySelector("[data-figures=attention]").innerText.replace(/\s+/g, " ")`
	b.until(attention + `.includes("orders failing 2 dead letters")`)
	s.call(orders, "application/json", `{"n":3}`)
	tiles("2,0,0,2,2,2") // by itself
	b.until(told + ` === "2,0,0,2,2"`)
	b.until("!" + attention + `.includes("failing")`) // after a run that went well

	// The last bar with calls: a minute may have begun since.
	const last = `[...document.querySelectorAll("figure")][0].querySelectorAll(".spot").values().filter((spot) => !spot.textContent.endsWith(": 0 went well, 0 in progress, 0 being retried, 0 failed, 0 rejected")).toArray().at(-1)`
	eval[bool](b, last+`.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }))`)
	if !eval[bool](b, `((spot, text) => text.startsWith(new Date(spot.dataset.from).toTimeString().slice(0, 5) + " to ") && text.endsWith(": " + spot.values) && text.includes("went well"))(`+last+`, document.querySelector("[data-shown]").textContent)`) {
		t.Errorf("under the pointer it is %q", b.text("[data-shown]"))
	}
	if !eval[bool](b, `((mark) => new Date(mark.dataset.mark).toTimeString().startsWith(mark.textContent))(document.querySelector("[data-mark]"))`) {
		t.Error("the axis has the time of another zone")
	}
	href := eval[string](b, last+`.parentElement.getAttribute("href")`)
	b.open(href)
	b.wants("webhook.orders")
	if at := eval[string](b, `location.pathname + location.search`); !strings.HasPrefix(at, "/calls?from=20") || !strings.Contains(at, "&to=20") {
		t.Errorf("the bar leads to %s", at)
	}
	v := s.signedIn("admin", adminPassword)
	for _, span := range []string{"15m", "6h", "day", "week", "month"} {
		v.get("/?span="+span).wants(t, 200, `aria-current="page"`, "webhook.orders")
	}
}

// TestCardsOnAPhone: rows are cards there. The whole card is a link, its corner selects
// it, and each value has a label.
func TestCardsOnAPhone(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	furnish(t, s)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.do(chromedp.EmulateViewport(320, 700))
	for _, path := range []string{"/calls", "/deadletters", "/quarantine"} {
		b.open(path)
		if width := eval[int](b, `document.documentElement.scrollWidth`); width > 320 {
			t.Errorf("%s is %d wide", path, width)
		}
		eval[bool](b, `(document.querySelector("tr[data-row]").scrollIntoView({ block: "center" }), true)`)
		const at = `((card) => (x, y) => document.elementFromPoint(card.left + x, card.top + y))(document.querySelector("tr[data-row]").getBoundingClientRect())`
		if !eval[bool](b, at+`(12, 20).matches("input") && `+at+`(150, 20).matches(".row-link") && `+at+`(150, 50).matches(".row-link")`) {
			t.Errorf("a card of %s is not its link and its tick", path)
		}
		if bare := eval[string](b, `[...document.querySelectorAll("tr[data-row] td")].filter((cell) => cell.checkVisibility() && cell.innerText.trim() && !cell.dataset.label && !cell.matches(".tick, .break, .reason, .state, :has(.row-link)")).map((cell) => cell.innerText).join()`); bare != "" {
			t.Errorf("%s has cards with %s, and nobody knows what that is", path, bare)
		}
		if cut := eval[string](b, `[...document.querySelectorAll("tr[data-row] td")].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.innerText).join()`); cut != "" {
			t.Errorf("%s cuts off %s", path, cut)
		}
		b.do(chromedp.Click(chromedp.CSS("[data-tick-all]")))
		b.until(`[...document.querySelectorAll("tbody input")].every((box) => box.checked)`)
	}
}

// TestClosedTimesAreGaps: the plots show when no calls were taken, and the page which senders
// never try again.
func TestClosedTimesAreGaps(t *testing.T) {
	t.Parallel()
	s := start(t)
	token := s.command("webhook.put", map[string]any{"eventKey": "webhook.code", "provider": "github", "signingSecret": "a secret of twenty characters"})["uuid"].(string)
	s.call(token, "application/json", "{}")
	s.signedIn("admin", adminPassword).get("/").wants(t, 200).lacks(t, "No calls were taken", `class="gap"`)
	s.stop()
	s.resume()
	v := s.signedIn("admin", adminPassword)
	natstest.Eventually(t, "the gap", func() bool { return strings.Contains(v.get("/").body, `class="gap"`) })
	v.get("/").wants(t, 200, "No calls were taken", "closed (stop)", "(stop)", `href="/webhooks/webhook.code/missed"`, "never tries again")
	v.get("/webhooks/webhook.code").wants(t, 200, `<rect class="gap"`)
}
