package portal_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestConnectAProvider: a new webhook for a known sender says how to set it up. An edit
// that would undo another one is rejected.
func TestConnectAProvider(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/webhooks/new")
	if eval[bool](b, `document.querySelector("#field-signingSecret").checkVisibility()`) {
		t.Error("a secret is asked for without a sender")
	}
	choose := func(name string) {
		t.Helper()
		b.fill("#field-provider", name)
		eval[bool](b, `document.querySelector("#field-provider").dispatchEvent(new Event("change"))`)
	}
	key := func() string { return eval[string](b, `document.querySelector("#field-eventKey").value`) }
	choose("discord")
	if got := key(); got != "webhook.discord" {
		t.Errorf("the key %q is proposed", got)
	}
	if !eval[bool](b, `document.querySelector("label[for=field-signingSecret] .needed").checkVisibility()`) {
		t.Error("the public key of Discord is not marked as required")
	}
	b.follow("#webhook button.main")
	b.waits("#field-signingSecret-problem") // what is missing is said beside its field
	choose("stripe")
	if got := key(); got != "webhook.stripe" {
		t.Errorf("the key %q is proposed", got)
	}
	b.fill("#field-eventKey", "webhook.payments")
	choose("github")
	if got := key(); got != "webhook.payments" {
		t.Errorf("a key that someone typed becomes %q", got)
	}
	if eval[bool](b, `document.querySelector("label[for=field-signingSecret] .needed") !== null`) {
		t.Error("a secret that is made is marked as required")
	}
	b.wants("Settings, Webhooks, Add webhook")
	b.fill("#field-signingSecret", "a secret of twenty characters")
	b.do(chromedp.Click(chromedp.CSS("[data-reveal=field-signingSecret]")))
	if kind := eval[string](b, `document.querySelector("#field-signingSecret").type`); kind != "text" {
		t.Errorf("the secret is in a field of type %q", kind)
	}
	b.follow("#webhook button.main")
	b.wants("Connect GitHub", "Waiting for the first signed call", "Make a new secret")
	b.open("/webhooks/webhook.payments/edit")
	b.until(`document.activeElement.id === "field-provider"`)
	b.fill("#field-description", "Pushes of all repositories")
	s.command("webhook.put", map[string]any{"uuid": s.token("webhook.payments"), "description": "someone else's"})
	b.follow("#webhook button.main")
	b.wants("changed")
	v := s.signedIn("admin", adminPassword)
	v.get("/webhooks").wants(t, 200, ">GitHub</td>", "someone else")
	v.get("/webhooks/webhook.payments/edit").wants(t, 200, `<option value="github" selected`)
}

// TestConnectWithoutScripts: the sender, its key and its secret also come together
// page by page.
func TestConnectWithoutScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	v.post("/webhooks/new", "provider", "stripe", "eventKey", "webhook.x", "signingSecret", "hush", "do", "show").
		wants(t, 200, `value="webhook.x"`, `<option value="stripe" selected`, `data-provider="stripe" data-key="webhook.stripe" data-secret="sender">`).lacks(t, "hush")
	v.post("/webhooks/new", "provider", "stripe", "do", "show").wants(t, 200, `value="webhook.stripe"`)
	v.post("/webhooks/new", "provider", "stripe", "eventKey", "webhook.stripe").wants(t, http.StatusSeeOther)
	page := v.get("/webhooks/webhook.stripe").wants(t, 200, "enter it here", `action="/webhooks/webhook.stripe/secret"`)
	page.lacks(t, "Call it", "Anyone who has")
	v.post("/webhooks/webhook.stripe/secret", "signingSecret", " ").wants(t, 400, "Enter the signing secret.")
	v.post("/webhooks/webhook.stripe/secret", "signingSecret", "a,b,c").wants(t, 400, "two signing secrets at most")
	if got := s.sendAsStripe(urlOn(t, page.body), "x"); got.status != http.StatusUnauthorized {
		t.Errorf("before the secret is entered a call is answered with %d", got.status)
	}
	v.post("/webhooks/webhook.stripe/secret", "signingSecret", " whsec_x ").wants(t, http.StatusSeeOther)

	v.post("/webhooks/webhook.stripe/try", "media", "application/json", "payload", `{"id":"evt_0"}`).wants(t, 200, "Accepted and kept, but no pipeline listens")
	v.get("/webhooks/webhook.stripe").wants(t, 200, "Waiting for the first signed call").lacks(t, "arrived")
	s.sendAsStripe(urlOn(t, page.body), "whsec_x").wants(t, 200)
	v.get("/webhooks/webhook.stripe").wants(t, 200, "The first call signed by Stripe arrived", "/pipelines/new?eventKey=webhook.stripe&amp;call=").lacks(t, "Waiting for", "enter it here")

	page = v.post("/webhooks/new", "provider", "github", "eventKey", "webhook.github").wants(t, 200, "shown only this once")
	first := madeOn(t, page.body)
	v.get("/start?key=webhook.github").wants(t, http.StatusSeeOther) // the tour has a plain call
	v.get("/webhooks/webhook.github").wants(t, 200, "Make a new secret").lacks(t, first)
	if second := madeOn(t, v.post("/webhooks/webhook.github/secret", "do", "make").wants(t, 200).body); second == first || len(second) < 20 {
		t.Errorf("the secrets are %q and %q", first, second)
	}
}

// TestWhatIsTypedStays: a call that arrives takes nothing away from people who are
// about to enter the secret, and what can be done stays.
func TestWhatIsTypedStays(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.stripe", "provider": "stripe", "signingSecret": "whsec_x"})
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/webhooks/webhook.stripe")
	b.waits(".waiting.on")
	refused := func(text string) {
		t.Helper()
		s.sendAsStripe(hook["webhookUrl"].(string), "whsec_another").wants(t, 401)
		b.until(`document.querySelector("#status").innerText.includes("` + text + `")`)
	}
	refused("1 call was rejected")
	b.waits("[data-reveal=signingSecret]")
	b.fill("#signingSecret", "half of a sec")
	refused("2 calls were rejected")
	b.do(chromedp.Click(chromedp.CSS("[data-reveal=signingSecret]")))
	if got := eval[string](b, `((i) => i.type + " " + i.value)(document.querySelector("#signingSecret"))`); got != "text half of a sec" {
		t.Errorf("the field is %q", got)
	}
}

// TestTheHandshakeIsSeen: with the keyboard alone, one who connects Slack enters its
// secret first, and sees the handshake, that a forged call is refused, and the first
// signed one. A test call is signed as Slack does.
func TestTheHandshakeIsSeen(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := &hands{browser: s.browse()}
	h.arrive(s)
	h.open("/webhooks/new")
	h.until(`document.activeElement.id === "field-provider"`)
	h.picks("Slack")
	h.first("Event key")
	h.enter()
	h.waits(".waiting.on")
	h.first("Signing secret")
	h.types("8f742231b10e8888abcd99")
	h.enter()
	h.wants("The signing secret is stored.", "Waiting for the handshake and the first signed call.")
	h.waits(".waiting.on")
	const event = `{"type":"event_callback","event_id":"Ev1"}`
	s.sendSigned("webhook.slack", `{"type":"url_verification","challenge":"abc"}`).wants(t, 200, "abc")
	h.until(`document.querySelector("#status").innerText.includes("✓ The handshake was answered")`)
	s.sendSigned("webhook.slack", event, "X-Slack-Signature", "v0=00").wants(t, 401)
	h.until(`document.querySelector("#status").innerText.includes("1 call was rejected: The signature in the header X-Slack-Signature does not match.")`)
	h.wants("Stored; nobody can read it any more.")
	s.sendSigned("webhook.slack", event).wants(t, 200)
	h.waits(".waiting.arrived")
	h.wants("Slack is connected", "The first call signed by Slack arrived", "A call needs this URL and the signature of Slack")
	h.first("Look at it")
	h.fill("#payload", `{"type":"event_callback","event_id":"Ev2"}`)
	h.follow("form[action$='try#try'] button")
	h.wants("Accepted and kept, but no pipeline listens")
}

// TestSamplesAreSent: the test call of a known sender is one of its events, with its type
// and headers, and each is another delivery.
func TestSamplesAreSent(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.sms", "provider": "twilio", "signingSecret": "a", "payloadType": "raw"})
	v := s.signedIn("admin", adminPassword)
	const page = "/webhooks/webhook.sms"
	v.get(page).wants(t, 200, "What Twilio sends:", "?sample=status-callback#try", "Body=Is&#43;the&#43;shop&#43;open%3F", "<option selected>application/x-www-form-urlencoded</option>")
	v.get(page+"?sample=status-callback").wants(t, 200, "MessageStatus=delivered", `name="sample" value="status-callback"`)
	for range 2 {
		v.post(page+"/try", "sample", "incoming-message", "media", "application/x-www-form-urlencoded", "payload", "Body=hello").wants(t, 200, "Accepted and kept, but no pipeline listens").lacks(t, "accepted before")
	}
}

// sendSigned makes a call with the signature of a webhook's sender, and with other
// headers.
func (s *service) sendSigned(eventKey, payload string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.base()+"/api/v3/command/webhook.sign?contentType=application/json&eventKey="+eventKey, strings.NewReader(payload))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("admin", adminPassword)
	r.Header.Set("Content-Type", "application/json")
	var made struct {
		URL, Body string
		Headers   map[string]string
	}
	if err := json.Unmarshal([]byte(s.do(r).wants(s.t, 200).body), &made); err != nil {
		s.t.Fatal(err)
	}
	for name, value := range made.Headers {
		headers = append([]string{name, value}, headers...)
	}
	return s.post(made.URL, made.Body, headers...)
}

// TestHostileVerifyToken: a hostile token is shown and copied as text.
func TestHostileVerifyToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	const script = `"><img src=x onerror="alert(1)">`
	v.post("/webhooks/new", "provider", "strava", "eventKey", "webhook.strava", "verifyToken", script).wants(t, http.StatusSeeOther)
	v.get("/webhooks/webhook.strava").wants(t, 200, html.EscapeString(script)[:4], "verify token", "since Strava does not sign its calls").lacks(t, "<img")
}

func urlOn(t *testing.T, page string) string {
	t.Helper()
	return strings.ReplaceAll(found(t, `<pre class="wrap" id="full-url">(.*?)</pre>`, page), "<wbr>", "")
}

func madeOn(t *testing.T, page string) string {
	t.Helper()
	return found(t, `<pre class="wrap" id="made">(.*?)</pre>`, page)
}

func found(t *testing.T, pattern, page string) string {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if match == nil {
		t.Fatalf("the page has no %s: %s", pattern, page)
	}
	return html.UnescapeString(match[1])
}

// TestEverySenderIsConnected: a webhook of every known sender is made without its
// secret, unless only the sender has one that would do. Its page has the URL and the
// secret at a step, and its words are English.
func TestEverySenderIsConnected(t *testing.T) {
	t.Parallel()
	s := start(t, "public-url=https://hooks.example.org")
	v := s.signedIn("admin", adminPassword)
	form := v.get("/webhooks/new").wants(t, 200)
	known := regexp.MustCompile(`(?s)<div class="setup-box" data-provider="([^"]*)" data-key="([^"]*)"(?: data-secret="([^"]*)")?.*?</div>`).FindAllStringSubmatch(form.body, -1)
	if len(known) < 60 {
		t.Fatalf("the form knows %d senders", len(known))
	}
	wrong := regexp.MustCompile("`|  |\\b(a|an|the|no|without a|its) (the|an?|its|no) |\\bthere is no the|signingSecret|verifyToken|'| \\.|\\.\\.|: nothing")
	for _, box := range known {
		name, key, from := box[1], box[2], box[3]
		proseOn := func(text string) string {
			return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " ¶ "))
		}
		check := func(where, text string) {
			t.Helper()
			for line := range strings.SplitSeq(proseOn(text), "¶") {
				if bad := wrong.FindString(strings.TrimSpace(line)); bad != "" {
					t.Errorf("%s, %s: %q in %q", name, where, bad, line)
				}
			}
		}
		check("form", box[0])
		got := v.post("/webhooks/new", "provider", name, "eventKey", key)
		if from == "public-key" {
			got.wants(t, 400, "needs the signing secret")
			continue
		}
		if got.status == http.StatusSeeOther {
			got = v.get("/webhooks/" + key)
		}
		got.wants(t, 200)
		steps := found(t, `(?s)<ol class="setup">(.*?)</ol>`, got.body)
		check("page", steps)
		if n := strings.Count(steps, `id="full-url"`); n != 1 {
			t.Errorf("%s has the URL at %d steps", name, n)
		}
		want := map[string]string{"": "", "handshake": "", "sender": `id="signingSecret"`, "you": `id="made"`}[from]
		if from == "you" && !strings.Contains(steps, want) {
			want = "Make a new secret" // where it is optional
		}
		if n := strings.Count(steps, want); want != "" && n != 1 {
			t.Errorf("%s asks for its secret at %d steps: %s", name, n, steps)
		}
		if want == "" && strings.Contains(steps, "/secret") {
			t.Errorf("%s asks for a secret that it has not", name)
		}
	}
}
