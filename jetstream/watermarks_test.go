package jetstream

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sluice"
	"sluice/jetstream/stream"
)

// TestLostWatermarksAreTold: without them no loss can be noticed, whatever else is whole. A new
// store has them from the first moment.
func TestLostWatermarksAreTold(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, file string){
		"whole":   func(*testing.T, string) {},
		"missing": harms["missing"],
		"zeros":   harms["zeros"],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e := openEngine(t, Options{Dir: dir})
			if len(e.Warnings()) != 0 {
				t.Errorf("a new store has the warnings %q", e.Warnings())
			}
			accept(t, e, "abcdef:0123456789")
			e.Close()
			harm(t, filepath.Join(dir, watermarksFile))
			findings, err := Check(dir, func(int64, int64) {})
			check(t, err)
			told := openEngine(t, Options{Dir: dir}).Warnings()
			for _, texts := range [][]string{findings, told} {
				if slices.Contains(texts, noWatermarks) != (name != "whole") {
					t.Errorf("it says %q", texts)
				}
			}
		})
	}
}

// TestAnUnfinishedWriteIsNoLoss: what was never acknowledged is cut off without a warning, and
// the same damage to what was acknowledged is a loss.
func TestAnUnfinishedWriteIsNoLoss(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	e := openEngine(t, Options{Dir: whole})
	for i := range 3 {
		accept(t, e, fmt.Sprintf("abcdef:%010d", i))
	}
	check(t, e.DeadLetters.Add(t.Context(), sluice.Delivery{TraceID: "abcdef:0123456789"}, []byte(`{}`), sluice.Outcome{Pipeline: "p"}))
	e.Close()
	pretendKill(t, whole)
	for _, name := range []string{stream.Events, stream.DeadLetters} {
		for _, finished := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, finished %v", name, finished), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				check(t, os.CopyFS(dir, os.DirFS(whole)))
				block := blockOf(dir, name, 1)
				content, err := os.ReadFile(block)
				check(t, err)
				if finished { // a part of the last message is gone
					check(t, os.Truncate(block, int64(len(content))-10))
				} else { // a part of the next one is there
					check(t, os.WriteFile(block, append(content, content[:30]...), 0o600))
				}
				findings, err := Check(dir, func(int64, int64) {})
				check(t, err)
				e := openEngine(t, Options{Dir: dir})
				stats, err := e.Stats(t.Context())
				check(t, err)
				want := sluice.ServerStats{CutOff: 1}
				switch {
				case finished && name == stream.Events:
					want = sluice.ServerStats{Lost: 1}
				case finished:
					want = sluice.ServerStats{LostOthers: 1}
				}
				if stats.CutOff != want.CutOff || stats.Lost != want.Lost || stats.LostOthers != want.LostOthers {
					t.Errorf("cut off: %d, lost: %d events and %d others; want %d, %d, %d", stats.CutOff, stats.Lost, stats.LostOthers, want.CutOff, want.Lost, want.LostOthers)
				}
				if (len(stats.Warnings) > 0) != finished || (len(findings) > 0) != finished {
					t.Errorf("the warnings are %q, and the check finds %q", stats.Warnings, findings)
				}
			})
		}
	}
}
