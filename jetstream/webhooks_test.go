package jetstream

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/jetstream/natstest"
)

func create(t *testing.T, e *Engine, eventKey string) sluice.Webhook {
	t.Helper()
	hook, err := e.Webhooks().Put(t.Context(), "", sluice.WebhookUpdate{EventKey: &eventKey})
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

func wantKind(t *testing.T, err error, want sluice.Kind) {
	t.Helper()
	if err == nil || sluice.AsError(err).Kind != want {
		t.Fatalf("got error %v, want one of kind %d", err, want)
	}
}

func TestWebhooksAreCreatedEditedAndDeleted(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		hooks := open().Webhooks()
		key := natstest.UniqueKey("created")
		made, err := hooks.Put(t.Context(), "", sluice.WebhookUpdate{EventKey: &key})
		if err != nil {
			t.Fatal(err)
		}
		if made.PayloadType != sluice.Base64 || made.MaxPayloadLength != sluice.DefaultPayloadLength {
			t.Errorf("a new webhook has other defaults than documented: %+v", made)
		}
		raw := sluice.Raw
		edited, err := hooks.Put(t.Context(), made.UUID, sluice.WebhookUpdate{PayloadType: &raw})
		if err != nil {
			t.Fatal(err)
		}
		want := made
		want.PayloadType, want.Updated = sluice.Raw, edited.Updated
		if diff := cmp.Diff(want, edited); diff != "" {
			t.Errorf("an edit changed more than it was asked to (-want +got):\n%s", diff)
		}
		if err := hooks.Delete(t.Context(), made.UUID); err != nil {
			t.Fatal(err)
		}
		_, err = hooks.Webhook(t.Context(), made.UUID)
		wantKind(t, err, sluice.NotFound)
		wantKind(t, hooks.Delete(t.Context(), made.UUID), sluice.NotFound)
		_, err = hooks.Put(t.Context(), made.UUID, sluice.WebhookUpdate{PayloadType: &raw})
		wantKind(t, err, sluice.NotFound)
	})
}

func TestAnEventKeyIsTakenOnce(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open())
		}
		const puts = 40
		key := natstest.UniqueKey("one")
		errs := make([]error, puts)
		var all sync.WaitGroup
		for i := range puts {
			all.Go(func() {
				_, errs[i] = nodes[i%len(nodes)].Webhooks().Put(t.Context(), "", sluice.WebhookUpdate{EventKey: &key})
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
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
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
				if _, err := first.Webhooks().Put(t.Context(), hook.UUID, sluice.WebhookUpdate{PayloadType: &raw}); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				if _, err := second.Webhooks().Put(t.Context(), hook.UUID, sluice.WebhookUpdate{MaxPayloadLength: &limit}); err != nil {
					t.Error(err)
				}
			})
			both.Wait()
			natstest.Eventually(t, "both edits are there", func() bool {
				got, err := first.Webhooks().Webhook(t.Context(), hook.UUID)
				return err == nil && got.PayloadType == raw && got.MaxPayloadLength == limit
			})
		}
	})
}

func TestAnEventKeyIsFreeAgainAfterRenameAndDelete(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		first := create(t, e, natstest.UniqueKey("first"))
		renamed := natstest.UniqueKey("renamed")
		if _, err := e.Webhooks().Put(t.Context(), first.UUID, sluice.WebhookUpdate{EventKey: &renamed}); err != nil {
			t.Fatal(err)
		}
		second := create(t, e, first.EventKey)
		_, err := e.Webhooks().Put(t.Context(), second.UUID, sluice.WebhookUpdate{EventKey: &renamed})
		wantKind(t, err, sluice.Conflict)
		if err := e.Webhooks().Delete(t.Context(), first.UUID); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Webhooks().Put(t.Context(), second.UUID, sluice.WebhookUpdate{EventKey: &renamed}); err != nil {
			t.Errorf("the key of a deleted webhook is still taken: %v", err)
		}
	})
}

func TestWebhooksAreListedInOrderAndPages(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	for _, i := range []int{3, 1, 4, 2, 0} {
		create(t, e, fmt.Sprintf("webhook.n%d", i))
	}
	create(t, e, "webhook.other")
	tests := []struct {
		query sluice.WebhookQuery
		want  []string
		more  bool
	}{
		{sluice.WebhookQuery{}, []string{"webhook.n0", "webhook.n1", "webhook.n2", "webhook.n3", "webhook.n4", "webhook.other"}, false},
		{sluice.WebhookQuery{Limit: 2}, []string{"webhook.n0", "webhook.n1"}, true},
		{sluice.WebhookQuery{Limit: 2, After: "webhook.n1"}, []string{"webhook.n2", "webhook.n3"}, true},
		{sluice.WebhookQuery{Limit: 2, After: "webhook.n4"}, []string{"webhook.other"}, false},
		{sluice.WebhookQuery{Search: ".n", Limit: 5}, []string{"webhook.n0", "webhook.n1", "webhook.n2", "webhook.n3", "webhook.n4"}, false},
		{sluice.WebhookQuery{Search: "nothing"}, nil, false},
	}
	for _, test := range tests {
		hooks, more, err := e.Webhooks().List(t.Context(), test.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hooks {
			got = append(got, h.EventKey)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || more != test.more {
			t.Errorf("%+v: more is %v (-want +got):\n%s", test.query, more, diff)
		}
	}
}

func TestNodesSeeEachOthersWebhooks(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		if !shared {
			return // an embedded engine has one node
		}
		first, second := open(), open()
		for range 20 {
			hook := create(t, first, natstest.UniqueKey("shared"))
			// At once: a call may follow a put within a millisecond.
			if _, err := second.Webhooks().Webhook(t.Context(), hook.UUID); err != nil {
				t.Fatalf("a webhook that another node has just made is not found: %v", err)
			}
			if err := first.Webhooks().Delete(t.Context(), hook.UUID); err != nil {
				t.Fatal(err)
			}
			natstest.Eventually(t, "the delete reaches the other node", func() bool {
				_, err := second.Webhooks().Webhook(t.Context(), hook.UUID)
				return err != nil
			})
		}
	})
}

func TestWebhooksSurviveARestart(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		kept := create(t, e, natstest.UniqueKey("kept"))
		dropped := create(t, e, natstest.UniqueKey("dropped"))
		if err := e.Webhooks().Delete(t.Context(), dropped.UUID); err != nil {
			t.Fatal(err)
		}
		e.Close()
		e = open()
		got, err := e.Webhooks().Webhook(t.Context(), kept.UUID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kept, got); diff != "" {
			t.Errorf("another webhook came back (-want +got):\n%s", diff)
		}
		_, err = e.Webhooks().Webhook(t.Context(), dropped.UUID)
		wantKind(t, err, sluice.NotFound)
		create(t, e, natstest.UniqueKey("after")) // writing goes on where it ended
	})
}
