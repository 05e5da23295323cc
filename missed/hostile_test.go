package missed_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/missed"
	"sluice/outward"
)

// TestHostileSenders: a list that never ends, a reply that takes a hundred times its length in
// memory and a limit that is none are refused, and other webhooks are asked meanwhile.
func TestHostileSenders(t *testing.T) {
	e := openEngine(t)
	for name, test := range map[string]struct {
		provider, path string
		answer         http.HandlerFunc
		says           string
	}{
		"a list that never ends": {"github", "/repos/o/r/hooks/1", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", `<https://x.example/?after=1>; rel="next"`)
			fmt.Fprint(w, "[]")
		}, "does not end"},
		"a list of nothings": {"gitlab", "/projects/1/hooks/1", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "["+strings.Repeat("{},", 200_000)+"{}]")
		}, "too large"},
		"a reply that is too long": {"gitlab", "/projects/1/hooks/1", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `["`+strings.Repeat("x", 9<<20)+`"]`)
		}, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			hostile := httptest.NewServer(test.answer)
			t.Cleanup(hostile.Close)
			var asked atomic.Int64
			honest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				fmt.Fprint(w, `{"data":[],"done":true}`)
			}))
			t.Cleanup(honest.Close)
			hook := func(key, provider, url string) *sluice.Webhook {
				return &sluice.Webhook{
					UUID: name + key, EventKey: key, Trust: &sluice.Trust{Provider: provider},
					Settings: sluice.Settings[time.Duration]{APIURL: url, APISecret: "s", MissedEvery: time.Minute},
				}
			}
			hooks := []*sluice.Webhook{
				hook("hostile", test.provider, hostile.URL+test.path), hook("honest", "svix", honest.URL+"/app/1/endpoint/2"),
			}
			f := missed.New(missed.Options{
				Webhooks: func() []*sluice.Webhook { return hooks }, Journal: e.Journal, Runs: e.Missed,
				Plain: http.DefaultTransport, Log: slog.New(slog.DiscardHandler),
			})
			f.Step(t.Context(), time.Now(), false)
			if asked.Load() != 1 {
				t.Errorf("the other sender was asked %d times", asked.Load())
			}
			_, err := f.Find(t.Context(), time.Minute, *hooks[0], time.Now().Add(-time.Hour), time.Now(), true)
			if e := sluice.AsError(err); e.Status != http.StatusBadGateway || !strings.Contains(e.Message, test.says) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// TestANetworkThatMayNotBeCalled: it is not the sender that does not answer.
func TestANetworkThatMayNotBeCalled(t *testing.T) {
	e := openEngine(t)
	hook := sluice.Webhook{
		UUID: "u", EventKey: "k", Trust: &sluice.Trust{Provider: "github"},
		Settings: sluice.Settings[time.Duration]{APIURL: "http://127.0.0.1:1/repos/o/r/hooks/1", APISecret: "s"},
	}
	f := missed.New(missed.Options{
		Webhooks: func() []*sluice.Webhook { return []*sluice.Webhook{&hook} }, Journal: e.Journal, Runs: e.Missed,
		Plain: outward.Only(nil).Transport(), Log: slog.New(slog.DiscardHandler),
	})
	_, err := f.Find(t.Context(), time.Minute, hook, time.Now().Add(-time.Hour), time.Now(), true)
	if !sluice.CodeAddressRefused.Is(err) || !strings.Contains(err.Error(), "--http-allow") {
		t.Errorf("it says %v", err)
	}
	found, err := f.Check(t.Context(), hook)
	if err != nil || found.State != sluice.SubscriptionUnknown || !strings.Contains(found.Message, "--http-allow") {
		t.Errorf("a check says %+v, %v", found, err)
	}
}

// TestASlowSenderHoldsUpNobody: it is asked beside the others from when they have lost their patience with it.
func TestASlowSenderHoldsUpNobody(t *testing.T) {
	e := openEngine(t)
	var asked atomic.Int64
	patient := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-patient:
			fmt.Fprint(w, `{"data":[],"done":true}`)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	hooks := []*sluice.Webhook{{
		UUID: "slow", EventKey: "slow", Trust: &sluice.Trust{Provider: "svix"},
		Settings: sluice.Settings[time.Duration]{
			APIURL: slow.URL + "/app/1/endpoint/2", APISecret: "s", MissedEvery: time.Minute,
		},
	}}
	f := missed.New(missed.Options{
		Webhooks: func() []*sluice.Webhook { return hooks }, Journal: e.Journal, Runs: e.Missed,
		Plain: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Patience: 100 * time.Millisecond,
	})
	now := time.Now()
	step := func(beside bool, want int64, what string) {
		t.Helper()
		f.Step(t.Context(), now, beside)
		if got := asked.Swap(0); got != want {
			t.Errorf("%s, it was asked %d times", what, got)
		}
		now = now.Add(time.Minute)
	}
	step(true, 0, "beside the others, before it was slow")
	step(false, 1, "among the others")
	step(false, 0, "among the others when it was slow")
	close(patient)
	step(true, 1, "beside the others")
	step(true, 0, "beside the others when it has answered")
	step(false, 1, "among the others again")
}
