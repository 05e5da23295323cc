package durable_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/durable"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
)

// TestTheNewestBlockIsFollowed: as events fill one block of the engine after the
// other, the newest one is synced.
func TestTheNewestBlockIsFollowed(t *testing.T) {
	dir := t.TempDir()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: dir, Box: natstest.Box, EventMaxAge: time.Hour, EventMaxBytes: 256 << 20, ResultTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	payload := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 6 {
				big := &sluice.Event{EventKey: "webhook.big", TraceID: "abcdef:0123456789", ReceivedAt: time.Now(), Payload: payload, PayloadType: sluice.Raw}
				if _, err := e.Events.Accept(t.Context(), big, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	blocks := &durable.Blocks{Dir: filepath.Join(dir, "jetstream", "$G", "streams", "EVENTS", "msgs")}
	if err := blocks.Sync(); err != nil {
		t.Fatal(err)
	}
	if blocks.Newest() < 3 {
		t.Errorf("24 MiB of events are in %d blocks; they should fill 3 or more", blocks.Newest())
	}
}
