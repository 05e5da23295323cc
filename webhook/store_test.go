package webhook

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/webhook/trust"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// onEverySetup runs a test on every set-up. Opened twice, two nodes share one
// store where the set-up allows for it.
func onEverySetup(t *testing.T, test func(t *testing.T, open func() *Store, shared bool)) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		test(t, func() *Store { return openStore(t, s) }, s.Shared)
	})
}

// openStore returns the store of webhooks of a real engine.
func openStore(t *testing.T, s natstest.Setup) *Store {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: s.Dir, Box: natstest.Box, URL: s.URL, Replicas: s.Replicas, EventMaxAge: time.Hour, EventMaxBytes: 256 << 20, ResultTTL: time.Hour,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	store := NewStore(e.Webhooks) // also before the engine is set up
	<-e.SetUp()
	return store
}

func create(t *testing.T, s *Store, eventKey string) sluice.Webhook {
	t.Helper()
	hook, err := s.edit(t.Context(), putParams{Given: command.Given{"eventKey": eventKey}})
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

func wantKind(t *testing.T, err error, want sluice.Kind) {
	t.Helper()
	if err == nil || sluice.AsError(err).Kind != want {
		t.Fatalf("got error %v, want one of kind %s", err, want)
	}
}

func TestWebhooksAreCreatedEditedAndDeleted(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Store, _ bool) {
		hooks := open()
		key := natstest.UniqueKey("created")
		made, err := hooks.edit(t.Context(), putParams{Given: command.Given{"eventKey": key}})
		if err != nil {
			t.Fatal(err)
		}
		if made.PayloadType != sluice.Base64 || trust.LongestPayload(&made) != sluice.DefaultPayloadLength {
			t.Errorf("a new webhook has other defaults than documented: %+v", made)
		}
		raw := sluice.Raw
		edited, err := hooks.edit(t.Context(), putParams{UUID: made.UUID, Given: command.Given{"payloadType": string(raw)}})
		if err != nil {
			t.Fatal(err)
		}
		want := made
		want.PayloadType, want.Updated = sluice.Raw, edited.Updated
		if diff := cmp.Diff(want, edited); diff != "" {
			t.Errorf("an edit changed more than it was asked to (-want +got):\n%s", diff)
		}
		if _, err := hooks.delete(t.Context(), deleteParams{UUID: made.UUID}); err != nil {
			t.Fatal(err)
		}
		_, err = hooks.Webhook(t.Context(), made.UUID)
		wantKind(t, err, sluice.NotFound)
		_, err = hooks.delete(t.Context(), deleteParams{UUID: made.UUID})
		wantKind(t, err, sluice.NotFound)
		_, err = hooks.edit(t.Context(), putParams{UUID: made.UUID, Given: command.Given{"payloadType": string(raw)}})
		wantKind(t, err, sluice.NotFound)
	})
}

func TestAnEventKeyIsTakenOnce(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Store, shared bool) {
		nodes := []*Store{open()}
		if shared {
			nodes = append(nodes, open())
		}
		const puts = 40
		key := natstest.UniqueKey("one")
		errs := make([]error, puts)
		var all sync.WaitGroup
		for i := range puts {
			all.Go(func() {
				_, errs[i] = nodes[i%len(nodes)].put(t.Context(), putParams{Given: command.Given{"eventKey": key}})
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			wantKind(t, err, sluice.Conflict)
		}
		if won != 1 {
			t.Errorf("%d puts got the same event key", won)
		}
	})
}

func TestConcurrentEditsKeepEachOthersFields(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Store, shared bool) {
		first := open()
		second := first
		if shared {
			second = open()
		}
		for range 10 {
			hook := create(t, first, natstest.UniqueKey("edited"))
			raw, limit := sluice.Raw, 77
			var both sync.WaitGroup
			both.Go(func() {
				if _, err := first.put(t.Context(), putParams{UUID: hook.UUID, Given: command.Given{"payloadType": string(raw)}}); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				if _, err := second.put(t.Context(), putParams{UUID: hook.UUID, Given: command.Given{"maxPayloadLength": limit}}); err != nil {
					t.Error(err)
				}
			})
			both.Wait()
			natstest.Eventually(t, "both edits are there", func() bool {
				got, err := first.Webhook(t.Context(), hook.UUID)
				return err == nil && got.PayloadType == raw && got.MaxPayloadLength == limit
			})
		}
	})
}

func TestAnEventKeyIsFreeAgainAfterRenameAndDelete(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Store, _ bool) {
		e := open()
		first := create(t, e, natstest.UniqueKey("first"))
		renamed := natstest.UniqueKey("renamed")
		if _, err := e.put(t.Context(), putParams{UUID: first.UUID, Given: command.Given{"eventKey": renamed}}); err != nil {
			t.Fatal(err)
		}
		second := create(t, e, first.EventKey)
		_, err := e.put(t.Context(), putParams{UUID: second.UUID, Given: command.Given{"eventKey": renamed}})
		wantKind(t, err, sluice.Conflict)
		if _, err := e.delete(t.Context(), deleteParams{UUID: first.UUID}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.put(t.Context(), putParams{UUID: second.UUID, Given: command.Given{"eventKey": renamed}}); err != nil {
			t.Errorf("the key of a deleted webhook is still taken: %v", err)
		}
	})
}

func TestWebhooksAreListedInOrderAndPages(t *testing.T) {
	e := openStore(t, natstest.Setup{Dir: t.TempDir()})
	for _, i := range []int{3, 1, 4, 2, 0} {
		create(t, e, fmt.Sprintf("webhook.n%d", i))
	}
	create(t, e, "webhook.other")
	tests := []struct {
		search, after string
		limit         int
		want          []string
		more          bool
	}{
		{"", "", 0, []string{"webhook.n0", "webhook.n1", "webhook.n2", "webhook.n3", "webhook.n4", "webhook.other"}, false},
		{"", "", 2, []string{"webhook.n0", "webhook.n1"}, true},
		{"", "webhook.n1", 2, []string{"webhook.n2", "webhook.n3"}, true},
		{"", "webhook.n4", 2, []string{"webhook.other"}, false},
		{".n", "", 5, []string{"webhook.n0", "webhook.n1", "webhook.n2", "webhook.n3", "webhook.n4"}, false},
		{"nothing", "", 0, nil, false},
	}
	for _, test := range tests {
		hooks, more := e.list(sluice.Cover{}, test.search, test.after, test.limit)
		var got []string
		for _, h := range hooks {
			got = append(got, h.EventKey)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || more != test.more {
			t.Errorf("%+v: more is %v (-want +got):\n%s", test, more, diff)
		}
	}
}

// TestFindingAWebhookAllocatesNothing: every call does it.
func TestFindingAWebhookAllocatesNothing(t *testing.T) {
	s := openStore(t, natstest.Setup{Dir: t.TempDir()})
	hook := create(t, s, "webhook.hot")
	var found sluice.WebhookFinder = s
	allocations := testing.AllocsPerRun(1000, func() {
		if _, err := found.Webhook(t.Context(), hook.UUID); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("it allocates %v times", allocations)
	}
}

// TestAWebhookIsFoundByItsEventKey, as long as that is its own.
func TestAWebhookIsFoundByItsEventKey(t *testing.T) {
	s := openStore(t, natstest.Setup{Dir: t.TempDir()})
	hook, renamed := create(t, s, "webhook.first"), "webhook.second"
	if got, err := s.WithKey("webhook.first"); err != nil || got.UUID != hook.UUID {
		t.Fatalf("found %+v (%v)", got, err)
	}
	if _, err := s.edit(t.Context(), putParams{UUID: hook.UUID, Given: command.Given{"eventKey": renamed}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.WithKey(renamed); err != nil || got.UUID != hook.UUID {
		t.Errorf("by its new key there is %+v (%v)", got, err)
	}
	_, err := s.WithKey("webhook.first")
	wantKind(t, err, sluice.NotFound)
}

// TestAMisspeltKeyIsGuessed: of those there are, and only if it is like one.
func TestAMisspeltKeyIsGuessed(t *testing.T) {
	s := openStore(t, natstest.Setup{Dir: t.TempDir()})
	for _, key := range []string{"webhook.github.push", "webhook.orders"} {
		create(t, s, key)
	}
	for key, want := range map[string]string{
		"webhook.orders": "webhook.orders", "webhook.github.pusch": "webhook.github.push", "github.push": "webhook.github.push", "webhook.ordres": "webhook.orders", "webhook.calendar": "",
	} {
		if got := s.NearestKey(sluice.Cover{}, key); got != want {
			t.Errorf("%s is taken for %q, want %q", key, got, want)
		}
	}
}
