package portal_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A warehouse is a system that pipelines forward calls to. It keeps its own ledger.
type warehouse struct {
	mu     sync.Mutex
	down   bool
	orders []string // that arrived, in order
}

// ServeHTTP implements http.Handler.
func (w *warehouse) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	order, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		answer.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.orders = append(w.orders, r.URL.Path+string(order))
}

func (w *warehouse) is(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

func (w *warehouse) arrived() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.orders, " ")
}

// TestItBrokeAtNight: the target of two pipelines is away. The pages say so with figures that
// agree with the ledger of the target, lead to the cause, recover failed events, and show that all
// is well again.
func TestItBrokeAtNight(t *testing.T) {
	t.Parallel()
	target := &warehouse{down: true}
	outside := httptest.NewServer(target)
	t.Cleanup(outside.Close)
	s := start(t, "http-allow=127.0.0.0/8")
	token := func(key, retry string) string {
		hook := s.command("webhook.put", map[string]any{"eventKey": "webhook." + key, "payloadType": "raw", "dedupe": "body:id"})
		s.store(key, retry+"pipeline:\n  - event.listen: {eventKey: webhook."+key+"}\n  - iam.run.as: {username: admin}\n  - http.forward: {url: \""+outside.URL+"/"+key+"\"}\n")
		return hook["uuid"].(string)
	}
	shop, billing := token("shop", "retry: {times: 20, backoff: 1h}\n"), token("billing", "retry: {times: 0}\n")
	for _, order := range []string{"1", "2", "3"} {
		s.call(shop, "application/json", `{"id":"`+order+`"}`)
	}
	for _, order := range []string{"4", "5"} {
		s.call(billing, "application/json", `{"id":"`+order+`"}`)
	}

	b := s.browse()
	b.signIn("admin", adminPassword)
	tiles := func(want string) {
		t.Helper()
		b.open("/")
		b.until(`[...document.querySelectorAll(".figures > a")].map((a) => a.querySelector("b").textContent + " " + a.querySelector("span").textContent.trim()).join("; ") === "` + want + `"`)
	}
	tiles("0 calls went well; 0 in progress; 3 being retried; 2 calls failed in a pipeline; 0 calls rejected by the server; 2 dead letters")
	b.wants("2 pipelines are failing: billing, shop")
	b.open("/search?q=sho&live=yes")
	if state := b.text("#found .badge"); state != "failing" {
		t.Errorf("the search says that the pipeline is %q", state)
	}
	b.open("/")
	b.follow("[data-figures=attention] a[href*='/pipelines/shop']")
	b.wants("answered with 503", outside.URL+"/shop", "3 events wait for another attempt", "Edit line")
	if main := b.text("main .main"); main != "Try all 3 now" {
		t.Errorf("the coloured button is %q", main)
	}
	b.open("/calls?status=retrying&since=15m")
	b.wants("webhook.shop")
	b.follow("tr[data-row] a")
	b.wants("The next attempt is at", "Pause shop", "Delivery id")
	if main := b.text("main .main"); main != "Try now" {
		t.Errorf("the coloured button of a call that waits is %q", main)
	}

	target.is(false)
	b.open("/pipelines/shop")
	b.follow("form[action$='/retry'] button")
	b.wants("Tried now")
	tiles("3 calls went well; 0 in progress; 0 being retried; 2 calls failed in a pipeline; 0 calls rejected by the server; 2 dead letters")

	b.open("/deadletters")
	b.follow(".cards button[value=replay]")
	b.wants("2 events replayed")
	b.until(`document.querySelector("#result").textContent.includes("2 ok, 0 failed.")`)
	tiles("3 calls went well; 2 recovered by a replay; 0 in progress; 0 being retried; 0 calls failed in a pipeline; 0 calls rejected by the server; 0 dead letters")
	b.eventually(func() string {
		if b.open("/"); eval[bool](b, `document.querySelector("main .bad") !== null`) {
			return "something is red, though all is well"
		}
		return ""
	})
	if arrived := target.arrived(); strings.Count(arrived, `"id"`) != 5 || strings.Count(arrived, "/shop") != 3 {
		t.Errorf("at the target arrived %s", arrived)
	}

	// The figures of single webhooks and pipelines agree, and a call is found by its delivery.
	const told = `document.querySelectorAll("#chart .spot").values().reduce((sums, spot) => spot.textContent.split(" UTC: ")[1].match(/\d+/g).map((n, i) => (sums[i] ?? 0) + Number(n)), []).join()`
	b.open("/webhooks/webhook.billing")
	b.until(told + ` === "2,0,0,0,0"`)
	b.open("/pipelines/shop")
	b.until(told + ` === "3,3"`) // each ran twice, and failed once
	b.open("/search?q=webhook.shop")
	b.until(`location.pathname === "/webhooks/webhook.shop"`)
	b.open("/calls?eventKey=webhook.shop")
	b.follow("tr[data-row] a")
	b.wants("1 earlier attempt", "ok")
}
