package jetstream

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// TestAnErasureDropsWhatWasSetAsideOfASpool: nothing can be erased within it.
func TestAnErasureDropsWhatWasSetAsideOfASpool(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	aside := filepath.Join(s.opts.SpoolDir, "engine", "damaged", "then", "1.blk")
	check(t, os.MkdirAll(filepath.Dir(aside), 0o700))
	check(t, os.WriteFile(aside, []byte("a call"), 0o600))
	check(t, s.one.Erasures.Erase(t.Context(), []sluice.Call{{TraceID: sluice.NewTraceID("abcdef", time.Now())}}))
	if _, err := os.Stat(aside); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was set aside is still there: %v", err)
	}
}

// TestWhoAdmittedACallIsKnown also if it waited in a spool.
func TestWhoAdmittedACallIsKnown(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	s.cut()
	admitted := call("webhook.admitted")
	admitted.Admitted, admitted.User = true, "ops"
	if result := s.call(s.one, admitted); !result.Spooled {
		t.Fatalf("it does not wait: %+v", result)
	}
	s.mend()
	natstest.Eventually(t, "the call is found with who admitted it", func() bool {
		calls, _, err := s.one.Journal.Calls(t.Context(), sluice.TraceQuery{TraceID: admitted.TraceID, Limit: 1})
		return err == nil && len(calls) == 1 && calls[0].User == "ops"
	})
}

// TestAFailedSpoolIsOpenedAgain, once its disk can be used: calls are refused until then, what
// it had taken is not lost, and it takes calls again.
func TestAFailedSpoolIsOpenedAgain(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	const key = "webhook.reopened"
	s.cut()
	taken := []sluice.Result{s.call(s.one, call(key))}
	blocks, err := filepath.Glob(filepath.Join(s.opts.SpoolDir, "engine", "jetstream", "$G", "streams", "SPOOL_*", "msgs", "1.blk"))
	if err != nil || len(blocks) != 1 {
		t.Fatalf("the blocks of the spool are %q, %v", blocks, err)
	}
	check(t, os.Rename(blocks[0], blocks[0]+".kept"))
	check(t, os.Symlink(blocks[0], blocks[0])) // leads nowhere, so it can't be opened
	for range 2 {
		_, err = s.one.Events.Accept(t.Context(), call(key), 0)
		wantKind(t, err, sluice.Unavailable)
		if !strings.Contains(err.Error(), "spool") {
			t.Errorf("the caller is told %v", err)
		}
	}
	if s.one.Ready() == nil {
		t.Error("the node is ready")
	}
	check(t, os.Rename(blocks[0]+".kept", blocks[0]))
	natstest.Eventually(t, "calls are taken again", func() bool {
		result, err := s.one.Events.Accept(t.Context(), call(key), 0)
		if err == nil {
			taken = append(taken, result)
		}
		return err == nil
	})
	s.mend()
	traces := s.traces(key)
	for _, r := range taken {
		if !slices.Contains(traces, r.TraceID) {
			t.Errorf("%s is lost", r.TraceID)
		}
	}
}
