package jetstream

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sluice"
)

// The group commit syncs files that the engine names and fills. This pins what
// it relies on, so that another version of the engine can't switch it off
// silently: the newest block is there, has the name we expect, and holds an
// event by the time it is acknowledged.
func TestTheEngineKeepsItsMessagesWhereWeSync(t *testing.T) {
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	for i := range 3 {
		traceID := fmt.Sprintf("abcdef:%010d", i)
		accept(t, e, traceID)
		block := filepath.Join(dir, "jetstream", "$G", "streams", "EVENTS", "msgs", "1.blk")
		content, err := os.ReadFile(block)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), traceID) {
			t.Fatalf("event %s was acknowledged, but is not in %s", traceID, block)
		}
	}
	create(t, e, uniqueKey("synced"))
	if _, err := os.Stat(filepath.Join(dir, "jetstream", "$G", "streams", "KV_webhooks", "msgs", "1.blk")); err != nil {
		t.Fatal(err)
	}
}

func TestTheNewestBlockIsFollowed(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	blocks := e.blocksOf(eventStream)
	payload := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 6 {
				big := event("abcdef:0123456789")
				big.Payload = payload
				if _, err := e.Events().Accept(t.Context(), big, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := blocks.sync(); err != nil {
		t.Fatal(err)
	}
	if blocks.newest < 3 {
		t.Errorf("24 MiB of events are in %d blocks; they should fill 3 or more", blocks.newest)
	}
}

// writeBlocks makes files with the names of blocks.
func writeBlocks(t *testing.T, dir string, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)+".blk"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBlocksMayComeAndGo(t *testing.T) {
	dir := t.TempDir()
	b := &blocks{dir: dir}
	if err := b.sync(); err == nil {
		t.Error("a folder without blocks passed for synced")
	}
	step := func(what string, newest int) {
		t.Helper()
		if err := b.sync(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if b.newest != newest {
			t.Errorf("%s: the newest block is %d, want %d", what, b.newest, newest)
		}
	}
	writeBlocks(t, dir, 1)
	step("first block", 1)
	writeBlocks(t, dir, 2, 3)
	step("two new blocks at once", 3)
	if err := os.Remove(b.path(1)); err != nil {
		t.Fatal(err)
	}
	step("an old block removed by retention", 3)
	writeBlocks(t, dir, 7)
	for _, n := range []int{2, 3} {
		if err := os.Remove(b.path(n)); err != nil {
			t.Fatal(err)
		}
	}
	step("the newest block replaced by a later one", 7)
	if err := os.Remove(b.path(7)); err != nil {
		t.Fatal(err)
	}
	if err := b.sync(); err == nil {
		t.Error("a folder that has lost its blocks passed for synced")
	}
}

func TestAFailedSyncStopsAllWriting(t *testing.T) {
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	hook := create(t, e, uniqueKey("before"))
	accept(t, e, "abcdef:0123456789")
	// The blocks vanish under the engine, which still holds them open: its
	// writes succeed, a sync can't.
	if err := os.RemoveAll(filepath.Join(dir, "jetstream", "$G", "streams", "EVENTS", "msgs")); err != nil {
		t.Fatal(err)
	}
	_, err := e.Events().Accept(t.Context(), event("abcdef:0000000001"), 0)
	wantKind(t, err, sluice.Unavailable)
	<-e.Failed()
	if e.Failure() == nil || e.Ready() == nil {
		t.Error("the engine still claims to be fine")
	}
	_, err = e.Events().Accept(t.Context(), event("abcdef:0000000002"), 0)
	wantKind(t, err, sluice.Unavailable)
	wantKind(t, e.Webhooks().Delete(t.Context(), hook.UUID), sluice.Unavailable)
}

func TestAWriterWaitsForASyncThatBeganLater(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	f := newFlusher(func() error {
		started <- struct{}{}
		<-finish
		return nil
	})
	go f.run(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- f.flush(t.Context()) }()
	<-started
	go func() { second <- f.flush(t.Context()) }()
	finish <- struct{}{}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	<-started // a sync of its own for the second
	select {
	case <-second:
		t.Error("the second writer was released by a sync that began before it wrote")
	default:
	}
	finish <- struct{}{}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
}

func TestLowDiskSpaceRefusesWrites(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir(), MinFreeDisk: 1 << 60})
	_, err := e.Events().Accept(t.Context(), event("abcdef:0123456789"), 0)
	wantKind(t, err, sluice.Unavailable)
	if code := sluice.AsError(err).Code; code != "disk-full" {
		t.Errorf("the code is %s, want disk-full", code)
	}
}
