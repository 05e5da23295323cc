package jetstream

import (
	"context"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// TestKeepIsByTheClockOfTheEngine: a node whose clock is ahead removes no event early.
func TestKeepIsByTheClockOfTheEngine(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	key := natstest.UniqueKey("kept")
	hook := &sluice.Webhook{UUID: "00000000-0000-4000-8000-0000008e28f2", EventKey: key, Settings: sluice.Settings[time.Duration]{Keep: time.Minute}}
	e.keepers.follow(nil, hook)
	result := send(t, e, key, 0)
	known := make(map[string]*keeping)
	ahead := time.Now().Add(10 * time.Minute)
	e.expireAll(t.Context(), known, ahead)
	if _, err := e.Stored.find(t.Context(), result.CorrelationID); err != nil {
		t.Fatalf("a node that is ten minutes ahead has removed it: %v", err)
	}
	if left := known[hook.UUID].due.Sub(ahead); left < 50*time.Second || left > time.Minute {
		t.Errorf("it looks again after %v", left)
	}
	short := *hook
	short.Keep = time.Nanosecond
	e.keepers.follow(hook, &short)
	natstest.Eventually(t, "the event to be removed", func() bool {
		e.expireAll(context.WithoutCancel(t.Context()), known, ahead)
		_, err := e.Stored.find(t.Context(), result.CorrelationID)
		return err != nil
	})
}
