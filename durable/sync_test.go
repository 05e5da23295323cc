package durable_test

import (
	"encoding/json"
	"log/slog"
	"os"
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

// TestAFileIsNobodyElses: a draft that somebody has put there is not written to, a link in
// its place is not followed, and nothing but the file is left.
func TestAFileIsNobodyElses(t *testing.T) {
	dir := t.TempDir()
	victim, name := filepath.Join(dir, "victim"), filepath.Join(dir, "secret.key")
	plant := map[string]func() error{
		"a link":          func() error { return os.Symlink(victim, name+".new") },
		"a file":          func() error { return os.Link(victim, name+".new") }, // which its owner goes on reading
		"nothing":         func() error { return nil },
		"a link to none":  func() error { return os.Symlink(filepath.Join(dir, "none"), name+".new") },
		"an empty folder": func() error { return os.Mkdir(name+".new", 0o700) },
	}
	if err := os.WriteFile(victim, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, put := range plant {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if err := durable.WriteFile(name, []byte("key")); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got, err := os.ReadFile(victim); err != nil || string(got) != "before" {
			t.Errorf("%s: the other file has %q, %v", what, got, err)
		}
		if err := os.RemoveAll(name + ".new"); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(name + ".*"); err != nil || len(left) != 0 {
			t.Errorf("%s: it left %v, %v", what, left, err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: it is %v, %v", what, info.Mode(), err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != "key" {
			t.Errorf("%s: it has %q, %v", what, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("a link to nothing was followed")
	}
}

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
