package portal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLayout: what belongs together is aligned, and what has the focus is seen whole.
func TestLayout(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.call(s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})["uuid"].(string), "text/plain", "x")
	s.call(s.command("webhook.put", map[string]any{"eventKey": "webhook.b", "eventType": "body:type"})["uuid"].(string), "application/json", `{"type":"order.paid.at.the.counter"}`)
	b := s.browse()
	near := func(what, one, other string) {
		t.Helper()
		if apart := eval[float64](b, `Math.abs((`+one+`) - (`+other+`))`); apart > 1 {
			t.Errorf("%s: %v pixels apart", what, apart)
		}
	}
	const box = `document.querySelector(%).getBoundingClientRect()`
	of := func(selector string) string { return strings.Replace(box, "%", "`"+selector+"`", 1) }
	b.open("/signin")
	near("the sign-in is not in the middle", of(".gate")+".left", "innerWidth - "+of(".gate")+".right")
	b.signIn("admin", adminPassword)
	b.waits(".live.on")
	const left = `((e) => e.getBoundingClientRect().left + parseFloat(getComputedStyle(e).paddingLeft))(document.querySelector(%))`
	near("the heading of a table", strings.Replace(left, "%", "`caption`", 1), strings.Replace(left, "%", "`caption ~ thead th`", 1))
	middle := func(selector string) string { return "(" + of(selector) + ".top + " + of(selector) + ".bottom) / 2" }
	near("a heading and the button beside it", middle("#latest"), middle("[data-notify]"))
	b.press("\t")
	b.until(of(".skip") + ".top > 0")
	if !eval[bool](b, `((skip, logo, name) => [logo, name].every((e) => e.left >= skip.left && e.right <= skip.right && e.top >= skip.top && e.bottom <= skip.bottom))(`+of(".skip")+`,`+of(".brand svg")+`,`+of(".brand span")+`)`) {
		t.Error("the way to the content covers a part of the logo only")
	}
	eval[bool](b, `(document.querySelector(".tabs a").focus({ focusVisible: true }), true)`)
	if offset := eval[string](b, `getComputedStyle(document.activeElement).outlineOffset`); !strings.HasPrefix(offset, "-") {
		t.Errorf("the mark of a button in a row is %s outside of it, where it is cut off", offset)
	}
	b.open("/webhooks/webhook.a?show=token")
	if wide := eval[bool](b, `[...document.querySelectorAll("#url wbr")].length > 5`); !wide {
		t.Error("a URL has no places to end a line")
	}
	b.waits(".own [data-row]")
	if repeated := eval[bool](b, `[...document.querySelectorAll(".own [data-key]")].some((e) => e.checkVisibility())`); repeated {
		t.Error("the page of a webhook names it in each of its calls")
	}
	b.open("/webhooks/webhook.b")
	near("the heading over the types of events", strings.Replace(left, "%", "`#types-title`", 1), strings.Replace(left, "%", "`#types th`", 1))
	near("the type of a call", of(".own td.break .soft")+".left", strings.Replace(left, "%", "`.own th:nth-child(2)`", 1))
	b.open("/calls")
	b.do(chromedp.EmulateViewport(390, 844))
	if display := eval[string](b, `getComputedStyle(document.querySelector(".fold > summary")).display`); display != "list-item" {
		t.Errorf("the filter on a phone has no mark that it opens: it is %s", display)
	}
}

// TestFirstAndLastStops: after the link to the content, Tab first reaches what people most
// likely want, and last what deletes something.
func TestFirstAndLastStops(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})
	s.command("webhook.put", map[string]any{"eventKey": "webhook.stripe", "provider": "stripe", "signingSecret": "whsec_x"})
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	h := &hands{browser: s.browse()}
	h.signIn("admin", adminPassword)
	for path, want := range map[string]string{
		"/": "0calls went well", "/start?key=webhook.a": "Copy", "/webhooks": "New webhook",
		"/webhooks/webhook.a": "Copy the whole URL", "/webhooks/webhook.stripe": "Copy the whole URL",
	} {
		h.open(path)
		h.content()
		h.first(want)
	}
	for _, path := range []string{"/webhooks/webhook.a", "/webhooks/webhook.stripe", "/users/vera"} {
		h.open(path)
		if last := eval[string](h.browser, `[...document.querySelectorAll("main a, main button, main input, main select, main textarea, main summary")].filter((e) => e.checkVisibility()).at(-1).textContent`); !strings.HasPrefix(last, "Delete") {
			t.Errorf("%s ends with %q", path, last)
		}
	}
	h.open("/start")
	h.until(`document.activeElement.id === "eventKey" && document.activeElement.selectionEnd === "webhook.hello".length && document.activeElement.selectionStart === 0`)
	h.open("/webhooks/webhook.a")
	h.content()
	h.tabTo("Show the token")
	h.enter()
	h.first("Copy the whole URL")
	h.first("Hide the token")
}

// TestReducedMotion: nothing moves for people who want that.
func TestReducedMotion(t *testing.T) {
	t.Parallel()
	s := start(t)
	token := s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})["uuid"].(string)
	b := s.browse()
	b.signIn("admin", adminPassword)
	const moving = `document.getAnimations({ subtree: true }).length`
	b.waits(".live.on")
	b.until(moving + ` > 0`)
	b.emulate("prefers-reduced-motion", "reduce")
	for _, path := range []string{"/start?key=webhook.a", "/", "/calls?eventKey=webhook.a", "/webhooks/webhook.a", "/pipelines/new"} {
		b.open(path)
		b.until(`document.querySelector(".on, .code, [data-live][hidden]") !== null`)
		s.call(token, "text/plain", "x")
		b.until(`document.querySelector("tr.new, [data-newer]:not([hidden]), .arrived, .code, [data-figures=latest] tbody tr") !== null`)
		if n := eval[int](b, moving); n != 0 {
			t.Errorf("%d things move on %s", n, path)
		}
	}
}

// TestAlertsTellWhereAndWhen: an alert shows the reader's time, and leads to a page that
// does not repeat it.
func TestAlertsTellWhereAndWhen(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.orders", "payloadType": "raw"})
	s.store("orders", "pipeline:\n  - event.listen: {eventKey: webhook.orders}\n  - fail: {message: Closed., statusCode: 400}\n")
	s.call(hook["uuid"].(string), "application/json", `{}`)
	b := s.browse()
	b.inZone("Asia/Kathmandu") // 5:45 ahead, so that no hour fits
	b.signIn("admin", adminPassword)
	b.wants("The pipeline orders has been failing since")
	if !eval[bool](b, `((time) => time.title.endsWith("UTC") && new Date(time.dateTime).toTimeString().startsWith(time.textContent))(document.querySelector(".alerts time"))`) {
		t.Errorf("the time is not that of the reader: %s", b.text(".alerts"))
	}
	b.follow(".alerts a")
	if at := eval[string](b, `location.pathname + location.hash`); at != "/pipelines/orders#failure" {
		t.Errorf("the banner leads to %s", at)
	}
	if eval[bool](b, `document.querySelector(".alerts") !== null`) {
		t.Error("the banner is repeated on the page that it leads to")
	}
	s.signedIn("admin", adminPassword).get("/calls").wants(t, 200, `<span class="count"`).lacks(t, `href="/pipelines/orders#failure"`)
}

// TestDamageIsShown: people see on every page that stored events are damaged.
func TestDamageIsShown(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, "data="+data)
	token := s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})["uuid"].(string)
	var trace string
	for range 20 {
		trace = s.call(token, "text/plain", "x")
	}
	s.stop()
	blocks, err := filepath.Glob(filepath.Join(data, "engine", "jetstream", "*", "streams", "*", "msgs", "*.blk"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, file := range blocks {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(content, []byte(trace))
		if at < 0 {
			continue
		}
		content[at] ^= 1
		damaged++
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(filepath.Dir(file), "index.db")); err != nil { // as after a kill
			t.Fatal(err)
		}
	}
	if damaged == 0 {
		t.Fatalf("none of %d blocks has %s", len(blocks), trace)
	}
	s.resume()
	s.signedIn("admin", adminPassword).get("/me").wants(t, 200, `class="note wait"`, "lost")
}
