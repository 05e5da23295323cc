package portal_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// withoutScripts makes the browser run none of the pages' scripts.
func (b *browser) withoutScripts() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// TestWithoutScripts: a browser that runs no scripts does all that people do,
// from the first webhook to the sign-out.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	b := s.browse()
	b.withoutScripts()
	b.signIn("admin", adminPassword)
	b.wants("Welcome", "Live updates need JavaScript")
	b.followText("Create your first webhook")
	b.follow("form[action='/start'] button")
	b.wants("Waiting for the call")
	_, rest, _ := strings.Cut(b.text("#line"), "token: ")
	token, _, _ := strings.Cut(rest, "'")
	trace := s.call(token, "application/json", `{"name":"Ada"}`)
	b.followText("Refresh")
	b.wants("The call arrived")
	b.followText("Look at it")
	b.wants(trace, `"name": "Ada"`)
	b.followText("Replay")
	b.wants("Replayed", "Replay of")

	b.open("/pipelines/new?eventKey=webhook.hello")
	b.fill("#name", "hello")
	b.fill("#source", "pipeline:\n  - event.listen: {eventKey: webhook.hello}\n  - sett: {value: 1}\n")
	b.follow("button[value=save]")
	b.wants("nothing was saved", "Line 3", "did you mean set?")
	b.fill("#source", "pipeline:\n  - event.listen: {eventKey: webhook.hello}\n  - set: {value: '#{body.payload.name}'}\n")
	b.follow("button[value=save]")
	b.wants("Saved.", "No runs yet")
	b.do(chromedp.SetValue(chromedp.CSS("#trace"), trace))
	b.follow("form[action$='run#run'] button")
	b.wants("It answered:", "Ada", "run by hand")

	b.open("/webhooks/webhook.hello")
	if copies := eval[int](b, `[...document.querySelectorAll("button.copy")].filter(e => e.checkVisibility()).length`); copies != 0 {
		t.Errorf("%d buttons are shown that do nothing", copies)
	}
	b.followText("Show the token")
	b.wants(token)
	b.follow("form[action$='try#try'] button")
	b.wants("Accepted, and all went well", "Ada")
	b.open("/calls?eventKey=webhook.hello&status=ok")
	b.waits(`tr[data-trace="` + trace + `"]`)
	b.open("/commands/iam.user.put")
	b.fill("#field-username", "eve")
	b.follow("main form button.main")
	b.wants(`"username": "eve"`)
	b.open("/users/eve/delete")
	b.followText("Delete the user")
	b.wants("Deleted.")
	b.follow(".whoami button")
	b.wants("Sign in")
	b.open("/calls")
	b.wants("Sign in")
}

// contrasts returns the texts of a page that stand out from what is behind them
// by less than WCAG asks for at level AA.
const contrasts = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const color = parse(getComputedStyle(element).backgroundColor);
    if (color[3] === 1) return color;
    return over(color, element.parentElement ? behind(element.parentElement) : parse(getComputedStyle(document.documentElement).colorScheme === "dark" ? "black" : "white"));
  };
  const found = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    if (element.closest("svg, .unseen, .skip, [aria-hidden=true]")) continue;
    const back = behind(element), front = over(parse(style.color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.add(ratio.toFixed(2) + " " + element.tagName + "." + element.className + ": " + walk.currentNode.textContent.trim().slice(0, 30));
  }
  return [...found].join("\n");
})()`

// TestContrast: all text can be told from its background, light and dark.
func TestContrast(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	b := s.browse()
	b.open("/signin")
	look := func(path string) {
		t.Helper()
		for _, theme := range []string{"light", "dark"} {
			b.theme(theme)
			if faint := eval[string](b, contrasts); faint != "" {
				t.Errorf("%s, %s: hard to read:\n%s", path, theme, faint)
			}
		}
	}
	look("/signin")
	b.signIn("admin", adminPassword)
	for _, path := range []string{"/", "/calls", "/calls/" + live[0], "/calls/" + live[1], "/webhooks", "/webhooks/webhook.lead.created", "/webhooks/new",
		"/webhooks/webhook.lead.created/delete", "/pipelines", "/pipelines/lead.created", "/pipelines/new", "/deadletters", "/deadletters/1", "/quarantine", "/quarantine/" + live[3], "/calls/" + live[2], "/calls/" + live[3], "/calls/" + live[0] + "/edit", "/commands",
		"/commands/webhook.put", "/reference", "/users", "/users/vera", "/roles", "/alerts", "/audit", "/me", "/start", "/start?key=webhook.quiet", "/nowhere"} {
		b.open(path)
		look(path)
	}
	b.open("/pipelines/lead.created/edit")
	b.fill("#source", "pipeline:\n  - lgo: {message: hi}\n")
	b.follow("button[value=save]")
	look("a pipeline with a mistake")
	b.open("/webhooks/new")
	b.fill("#field-eventKey", "not a key")
	b.follow("main form button.main")
	look("a form with a mistake")
}
