package portal_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A browser is a real browser that shows the pages of a service.
type browser struct {
	t   *testing.T
	s   *service
	ctx context.Context
}

// chromium is shared by all tests, because starting it takes longer than most tests. The
// first test that needs it starts it. It is nil without an error if none is installed.
var chromium = sync.OnceValues(func() (context.Context, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1280, 900))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		stopChromium = func() {
			_ = chromedp.Cancel(ctx) // a browser that is gone is what is wanted
			cancel()
			stop()
		}
		return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	}
	return nil, nil
})

// stopChromium ends what chromium started.
var stopChromium = func() {}

// browse opens a browser with its own session until the test ends. Without a browser, or
// with -short, the test is skipped; TEST_BROWSER demands one. A script that throws fails
// the test.
func (s *service) browse() *browser {
	s.t.Helper()
	if testing.Short() {
		s.t.Skip("SKIPPED: -short leaves out browsers")
	}
	shared, err := chromium()
	if err != nil {
		s.t.Fatal(err)
	}
	if shared == nil && os.Getenv("TEST_BROWSER") != "" {
		s.t.Fatal("there is no browser, and TEST_BROWSER demands one: install chromium-headless-shell or chromium")
	}
	if shared == nil {
		s.t.Skip("SKIPPED: there is no browser; install chromium-headless-shell or chromium")
	}
	ctx, cancel := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	watched := make(chan struct{})
	s.t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			s.t.Logf("the browser's end: %v", err)
		}
		cancel()
		<-watched
	})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(watched)
		for message, err := range messages {
			if err != nil {
				return
			}
			if message.IsException() {
				s.t.Errorf("a script threw: %s", message)
			}
		}
	}()
	b := &browser{s.t, s, ctx}
	b.do(chromedp.Navigate("about:blank"))
	return b
}

// do runs steps within the test's patience.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v; the page is:\n%s", err, b.page())
	}
}

// page returns the address and the text of the page, for error messages.
func (b *browser) page() string {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// open goes to a page, and drops a draft without being asked.
func (b *browser) open(path string) {
	b.t.Helper()
	eval[bool](b, `document.querySelector("textarea[data-draft]")?.form.dispatchEvent(new Event("submit")) ?? true`)
	b.do(chromedp.Navigate(b.s.base() + path))
}

// follow clicks on what leads to another page, and waits for that.
func (b *browser) follow(selector string) {
	b.t.Helper()
	b.clickThrough(fmt.Sprintf(`document.querySelector(%q)`, selector))
}

// followText clicks on the link or button with a text.
func (b *browser) followText(text string) {
	b.t.Helper()
	query := fmt.Sprintf(`//main//*[self::a or self::button][normalize-space()=%q]`, text)
	b.clickThrough(fmt.Sprintf(`document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue`, query))
}

// clickThrough clicks on an element once it is visible. A mouse could miss it while the
// page moves.
func (b *browser) clickThrough(element string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.JSPath(element)))
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	click := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Evaluate[bool]("("+element+".click(), true)")(ctx, t)
		return err
	})
	if _, err := chromedp.RunResponse(ctx, click); err != nil {
		b.t.Fatalf("following %s: %v; the page is:\n%s", element, err, b.page())
	}
}

// leads presses a key that leads to another page, and waits for that.
func (b *browser) leads(key string, options ...chromedp.KeyOption) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(key, options...)); err != nil {
		b.t.Fatalf("pressing %q: %v; the page is:\n%s", key, err, b.page())
	}
}

func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SetValue(chromedp.CSS(selector), text))
}

// waits until something is on the page.
func (b *browser) waits(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		b.t.Fatalf("%s: %v; the page is:\n%s", selector, err, b.page())
	}
	return text
}

// wants waits until the page has all of these texts.
func (b *browser) wants(texts ...string) {
	b.t.Helper()
	b.eventually(func() string {
		page := b.page()
		for _, text := range texts {
			if !strings.Contains(page, text) {
				return fmt.Sprintf("the page lacks %q", text)
			}
		}
		return ""
	})
}

// eventually waits until nothing is wrong.
func (b *browser) eventually(wrong func() string) {
	b.t.Helper()
	deadline := time.After(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		problem := wrong()
		if problem == "" {
			return
		}
		select {
		case <-again.C:
		case <-deadline:
			b.t.Fatalf("%s:\n%s", problem, b.page())
		}
	}
}

// eval returns the value of a script's expression.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (b *browser) signIn(username, password string) {
	b.t.Helper()
	b.open("/signin")
	b.fill("#username", username)
	b.fill("#password", password)
	b.follow("button.main")
}

// theme makes the browser prefer light or dark pages.
func (b *browser) theme(name string) {
	b.t.Helper()
	b.emulate("prefers-color-scheme", name)
}

// emulate makes the browser prefer something.
func (b *browser) emulate(feature, value string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
		})
		return err
	}))
}

// until waits until a script's condition holds, here or on the page that follows.
func (b *browser) until(condition string) {
	b.t.Helper()
	b.eventually(func() string {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+condition+")"))
		if err == nil && holds {
			return ""
		}
		return fmt.Sprintf("%s does not come true (%v)", condition, err)
	})
}

// press presses keys, one after the other.
func (b *browser) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// inZone sets the browser's time zone.
func (b *browser) inZone(name string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return err
	}))
}
