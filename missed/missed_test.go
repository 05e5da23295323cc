package missed_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/missed"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func openEngine(t *testing.T) *jetstream.Engine {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// TestByItself: a sender is asked as often as its webhook says, by one of several nodes, about
// the time since it was last asked; after a limit as soon as that is over.
func TestByItself(t *testing.T) {
	e := openEngine(t)
	var asked []string
	limited := false
	sender := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		asked = append(asked, strings.Join([]string{query.Get("after"), query.Get("before")}, " to "))
		if limited {
			w.Header().Set("Retry-After", "300")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `{"data":[],"done":true}`)
	}))
	t.Cleanup(sender.Close)
	hook := &sluice.Webhook{UUID: "a", EventKey: "a", Settings: sluice.Settings[time.Duration]{APIURL: sender.URL + "/app/1/endpoint/2", APISecret: "s", MissedEvery: time.Hour}, Trust: &sluice.Trust{Provider: "svix"}}
	hooks := []*sluice.Webhook{hook}
	node := func() *missed.Finder {
		return missed.New(missed.Options{
			Webhooks: func() []*sluice.Webhook { return hooks }, Journal: e.Journal, Runs: e.Missed, Plain: http.DefaultTransport, Log: slog.New(slog.DiscardHandler),
			Accept: func(context.Context, sluice.Webhook, []byte) (sluice.Result, error) { return sluice.Result{}, nil },
		})
	}
	one, two := node(), node()
	now := time.Date(2026, 11, 17, 10, 0, 0, 0, time.UTC)
	step := func(after time.Duration, want ...string) {
		t.Helper()
		now = now.Add(after)
		one.Step(t.Context(), now, false)
		two.Step(t.Context(), now, false)
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("at %s it was asked about (-want +got):\n%s", now.Format("15:04"), diff)
		}
		asked = nil
	}
	step(0, "2026-11-16T10:00:00Z to 2026-11-17T09:59:00Z")
	step(59 * time.Minute)
	limited = true
	step(time.Minute, "2026-11-17T09:49:00Z to 2026-11-17T10:59:00Z")
	step(4 * time.Minute)
	limited = false
	step(time.Minute, "2026-11-17T09:49:00Z to 2026-11-17T11:04:00Z")
	step(time.Hour, "2026-11-17T10:54:00Z to 2026-11-17T12:04:00Z")
	hooks = nil
	step(time.Hour)
	if left := e.Missed.All(); len(left) > 0 {
		t.Errorf("of a webhook that is gone, %+v is left", left[0])
	}
}

// TestAllSendersAreNamed: those that errors and documents name are those that can be asked.
func TestAllSendersAreNamed(t *testing.T) {
	for name := range strings.SplitSeq(missed.Senders(), ", ") {
		if !missed.Asks(name) {
			t.Errorf("%s can't be asked", name)
		}
		f := missed.New(missed.Options{Secret: nil})
		_, err := f.Find(t.Context(), time.Minute, sluice.Webhook{Trust: &sluice.Trust{Provider: name}}, time.Time{}, time.Now(), true)
		if sluice.AsError(err).Parameter != "apiUrl" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
