package jetstream

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/journal"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// The group commit syncs files that the engine names and fills. This pins what it relies on,
// so that a new version of the engine can't silently break it: the newest block exists, has
// the name we expect, and holds an event by the time the event is acknowledged.
func TestTheEngineKeepsItsMessagesWhereWeSync(t *testing.T) {
	t.Parallel()
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
	putRole(t, e, "synced")
	if blocks, _ := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", "KV_roles-*", "msgs", "1.blk")); len(blocks) != 1 {
		t.Fatalf("the blocks of roles are %q", blocks)
	}
}

func TestAFailedSyncStopsAllWriting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	putRole(t, e, "before")
	accept(t, e, "abcdef:0123456789")
	// The blocks vanish under the engine, which still holds them open: its
	// writes succeed, a sync can't.
	if err := os.RemoveAll(filepath.Join(dir, "jetstream", "$G", "streams", "EVENTS", "msgs")); err != nil {
		t.Fatal(err)
	}
	_, err := e.Events.Accept(t.Context(), event("abcdef:0000000001"), 0)
	wantKind(t, err, sluice.Unavailable)
	<-e.Failed()
	if e.Failure() == nil || e.Ready() == nil {
		t.Error("the engine still claims to be fine")
	}
	_, err = e.Events.Accept(t.Context(), event("abcdef:0000000002"), 0)
	wantKind(t, err, sluice.Unavailable)
	wantKind(t, sluice.Remove(t.Context(), e.Roles, "before"), sluice.Unavailable)
}

func TestLowDiskSpaceRefusesWrites(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), MinFreeDisk: 1 << 60})
	_, err := e.Events.Accept(t.Context(), event("abcdef:0123456789"), 0)
	wantKind(t, err, sluice.Unavailable)
	if code := sluice.AsError(err).Code; code != "disk-full" {
		t.Errorf("the code is %s, want disk-full", code)
	}
}

// TestWhatTheJournalHearsOnAFullDiskIsWrittenAfterwards: nothing else has to come for that.
func TestWhatTheJournalHearsOnAFullDiskIsWrittenAfterwards(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	written := func() uint64 {
		info, err := e.host.JS.Stream(t.Context(), stream.Loose)
		check(t, err)
		return info.CachedInfo().State.Msgs
	}
	once, cancel := context.WithCancel(t.Context())
	cancel()
	low := func() { e.host.WatchDisk(once, 1<<60) } // until the engine looks at the disk again
	low()
	now := time.Now()
	e.Journal.Hear(journal.Answered{Call: sluice.Call{
		TraceID: sluice.NewTraceID("abcdef", now), Time: now, Status: sluice.StatusRejected,
	}})
	for tick := time.NewTicker(5 * time.Millisecond); time.Since(now) < time.Second; <-tick.C {
		low()
	}
	natstest.Eventually(t, "the rejected call is written", func() bool { return written() > 0 })
}

func TestAWriteAfterCloseIsRefused(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	accept(t, e, "abcdef:0123456789")
	e.Close()
	answers := make(chan error, 1)
	go func() {
		_, err := e.Events.Accept(t.Context(), event("abcdef:0000000001"), 0)
		answers <- err
	}()
	select {
	case err := <-answers:
		wantKind(t, err, sluice.Unavailable)
	case <-time.After(time.Minute):
		t.Fatal("the event is not answered")
	}
}

// putRole stores a role.
func putRole(t *testing.T, e *Engine, name string) {
	t.Helper()
	_, err := e.Roles.Change(t.Context(), name, func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error) {
		return &sluice.Role{Name: name}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
