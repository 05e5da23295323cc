package portal_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hands use nothing but the keyboard, and count what they press.
type hands struct {
	*browser

	keys    int // pressed
	letters int // typed
}

// focused is the name of the focused element, also inside the editor.
const focused = `(() => {
	let e = document.activeElement;
	while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
	return e;
})()`

// on returns the name of what has the focus.
func (h *hands) on() string {
	return eval[string](h.browser, `((e) => (e.ariaLabel ?? e.labels?.[0]?.firstChild?.textContent ?? e.textContent ?? "").trim().replace(/\s+/g, " "))(`+focused+`)`)
}

// tabTo presses Tab until something of that name has the focus. Whatever has it on
// the way must be in sight and marked.
func (h *hands) tabTo(name string) {
	h.t.Helper()
	const most = 40
	for range most {
		h.keys++
		h.press("\t")
		if !eval[bool](h.browser, `((e) => {
			const box = e.getBoundingClientRect(), style = getComputedStyle(e);
			return e === document.body || style.outlineStyle !== "none" && box.bottom > 0 && box.top < innerHeight && box.width > 0;
		})(`+focused+`)`) {
			h.t.Errorf("%q has the focus, and nobody sees it", h.on())
		}
		if h.on() == name {
			return
		}
	}
	h.t.Fatalf("%d times Tab do not lead to %q; the page is:\n%s", most, name, h.page())
}

// next presses Tab once, and fails if something else has the focus then.
func (h *hands) next(name string) {
	h.t.Helper()
	before := h.keys
	h.tabTo(name)
	if h.keys != before+1 {
		h.t.Errorf("%q is %d times Tab away", name, h.keys-before)
	}
}

// enter presses Enter on what leads to another page, and waits for that.
func (h *hands) enter() {
	h.t.Helper()
	h.keys++
	h.leads("\r")
}

// content skips the navigation.
func (h *hands) content() {
	h.t.Helper()
	h.tabTo("Skip to the content")
	h.keys++
	h.press("\r")
}

func (h *hands) types(text string) {
	h.t.Helper()
	h.letters += len([]rune(text))
	h.press(text)
}

// picks types the name of an option. A list forgets the letters if a slow machine types
// them slowly: then this types them again.
func (h *hands) picks(option string) {
	h.t.Helper()
	h.letters += len([]rune(option))
	h.eventually(func() string {
		h.press(option)
		if eval[bool](h.browser, focused+`.selectedOptions[0].textContent.trim() === "`+option+`"`) {
			return ""
		}
		<-time.After(1500 * time.Millisecond) // then the letters are forgotten
		return "there is no " + option + " to pick"
	})
}

// arrive signs in.
func (h *hands) arrive(s *service) {
	h.t.Helper()
	h.do(chromedp.Navigate(s.base() + "/"))
	h.until(`document.activeElement.id === "username"`)
	h.types("admin")
	h.tabTo("Password")
	h.types(adminPassword)
	h.enter()
}

// within fails if a person would need more than three minutes: two seconds to find
// each thing to press, and a third of a second for a letter.
func (h *hands) within(t *testing.T) {
	t.Helper()
	took := time.Duration(h.keys)*2*time.Second + time.Duration(h.letters)*time.Second/3
	t.Logf("%d keys and %d letters, about %v", h.keys, h.letters, took.Round(time.Second))
	if took > 3*time.Minute {
		t.Errorf("it takes %v", took)
	}
}

// TestBrokenAtNightByKeyboard: from the sign-in on, without a mouse, someone finds
// what broke, sees why, mends it, tries it on past calls, and replays all that
// failed.
func TestBrokenAtNightByKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.orders", "payloadType": "raw"})
	s.store("orders", "pipeline:\n  - event.listen: {eventKey: webhook.orders}\n  - set: {value: \"#{body.payload.total * 2}\"}\n")
	for _, body := range []string{`{"total":1}`, `{"sum":1}`, `{"sum":2}`, `{"sum":3}`, `{"sum":4}`} {
		s.call(hook["uuid"].(string), "application/json", body)
	}
	h := &hands{browser: s.browse()}
	h.arrive(s)
	h.wants("The pipeline orders has been failing", "calls failed")
	h.content()
	h.tabTo("See why")
	h.enter()
	h.do(chromedp.Navigate(h.s.base() + "/pipelines/orders#failure")) // where that link will lead
	h.wants("Latest failure", "4 events have failed and wait as dead letters", "body.payload.sum 4")
	h.next("Edit line 3")
	h.enter()
	h.until(`document.querySelector(".code") !== null`)
	if on, line := h.on(), eval[string](h.browser, inEditor+`.querySelector(".cm-activeLine").textContent`); !strings.HasPrefix(on, "Source") || !strings.Contains(line, "total * 2") {
		t.Fatalf("the focus is on %q, line %q", on, line)
	}
	h.wants("What expressions see", "body.payload.sum 4")
	h.types(strings.Repeat(kb.ArrowRight, len(`"#{`)))
	h.types("(")
	const words = 5 // body, a dot, payload, a dot, total
	h.keys += words
	h.do(chromedp.KeyEvent(strings.Repeat(kb.ArrowRight, words), chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	h.types(" ?? body.payload.sum)")
	h.until(`document.querySelector("#source").value.includes("#{(body.payload.total ?? body.payload.sum) * 2}")`)
	h.waits("[data-lint].good")
	h.keys++
	h.leads("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	h.wants("4 failed before and would now succeed", "1 would succeed as before")
	if on := h.on(); on != "Tried on 5 past calls" {
		t.Errorf("the focus is on %q", on)
	}
	h.keys++
	h.leads("s", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	h.wants("Saved.", "4 events have failed and wait as dead letters")
	h.next("Replay all 4")
	h.enter()
	h.until(`document.querySelector("#result").textContent.includes("4 ok, 0 failed.")`)
	h.wants("4 events replayed", "All went well")
	h.until(`document.querySelector(".alerts") === null`)
	h.next("Calls of orders")
	h.enter()
	h.until(`[...document.querySelectorAll("tr[data-row]")].filter((row) => row.textContent.includes("replay") && row.querySelector(".badge.good")).length === 4`)
	h.within(t)
}

// TestConnectByKeyboard: from the sign-in on, without a mouse, someone who has no
// webhook yet connects a known sender and sees its first signed call: one that shows
// its secret only when it has the URL, and one that is given a secret.
func TestConnectByKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := &hands{browser: s.browse()}
	h.arrive(s)
	h.content()
	h.first("Create your first webhook")
	h.enter()
	h.tabTo("Connect a known sender")
	h.enter()
	h.until(`document.activeElement.id === "field-provider"`)
	h.picks("Stripe")
	h.waits("[data-provider=stripe]")
	h.wants("Developers, Webhooks, Add destination", "One webhook is enough for all events of Stripe.", "leave it empty")
	h.first("Event key")
	h.enter()
	h.wants("Connect Stripe", "Waiting for the first signed call")
	h.waits(".waiting.on")
	h.first("Copy the whole URL")
	h.keys++
	h.press("\r")
	h.waits("button.copied")
	h.first("Signing secret")
	h.types("whsec_that_comes_later")
	h.enter()
	h.wants("The signing secret is stored.", "Waiting for the first signed call")
	h.waits(".waiting.on")
	url := eval[string](h.browser, `document.querySelector("#full-url").textContent`)
	s.sendAsStripe(url, "whsec_another").wants(t, 401)
	h.until(`document.querySelector("#status").innerText.includes("1 call was rejected")`)
	s.sendAsStripe(url, "whsec_that_comes_later").wants(t, 200)
	h.waits(".waiting.arrived")
	h.wants("Stripe is connected", "✓ The first call signed by Stripe arrived", "Write a pipeline for it", "Latest calls")
	if strings.Contains(h.page(), "Waiting for") || eval[bool](h.browser, `document.querySelector("#signingSecret") !== null`) {
		t.Errorf("the page still waits:\n%s", h.page())
	}
	h.first("Look at it")
	h.enter()
	h.wants("invoice.paid", "Accepted")
	h.within(t)

	h.open("/webhooks/new")
	h.until(`document.activeElement.id === "field-provider"`)
	h.picks("GitHub")
	h.waits("[data-provider=github]")
	h.first("Event key")
	h.enter()
	h.wants("Connect GitHub", "shown only this once")
	h.waits(".waiting.on")
	h.first("Copy the whole URL")
	h.first("Copy the secret")
	secret := h.text("#made")
	const body = `{"zen":"Keep it logically awesome."}`
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	s.post(h.text("#full-url"), body, "X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)), "X-Github-Delivery", "72d3162e").wants(t, 200)
	h.waits(".waiting.arrived")
	h.tabTo("Look at it")
	h.enter()
	h.wants("Keep it logically awesome.", "Accepted")
}

// first presses Tab once, which must lead to that.
func (h *hands) first(name string) {
	h.t.Helper()
	h.until(`document.activeElement !== document.body || location.hash !== ""`) // the page says where to begin
	h.keys++
	h.press("\t")
	if on := h.on(); on != name {
		h.t.Fatalf("Tab leads to %q, want %q; the page is:\n%s", on, name, h.page())
	}
}

// sendAsStripe makes a call as Stripe does.
func (s *service) sendAsStripe(url, secret string) answer {
	s.t.Helper()
	const body = `{"id":"evt_1","object":"event","type":"invoice.paid"}`
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "." + body))
	return s.post(url, body, "Stripe-Signature", "t="+at+",v1="+hex.EncodeToString(mac.Sum(nil)))
}

// post sends JSON to a URL, with headers of names and values in turn.
func (s *service) post(url, body string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(r)
}
