package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test's program run the parts, as the program itself does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && parts[os.Args[1]] != nil {
		if err := run(os.Args[1:]); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestKill9(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := t.TempDir()
	err := run([]string{"kill9", "-cycles", "1", "-seconds", "2", "-connections", "8", "-dir", dir})
	if err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestVerdict(t *testing.T) {
	all := losses{calls: true, results: true, traces: true}
	results := losses{results: true}
	for _, c := range []struct {
		must, lost losses
		hooks      int
		cycles     int // to do, of which one is done
		want       string
		asWanted   bool
	}{
		{losses{}, losses{}, 0, 1, "ok", true},
		{losses{}, losses{}, 0, 2, "FAILED", true},
		{losses{}, losses{calls: true}, 0, 1, "LOST", false},
		{losses{}, losses{results: true}, 0, 1, "LOST", false},
		{losses{}, losses{traces: true}, 0, 1, "LOST", false},
		{losses{}, losses{}, 1, 1, "LOST", false},
		{all, all, 0, 1, "ok: loss is noticed", true},
		{all, losses{calls: true, results: true}, 0, 1, "BLIND", false},
		{all, losses{calls: true, traces: true}, 0, 1, "BLIND", false},
		{all, losses{results: true, traces: true}, 0, 1, "BLIND", false},
		{all, losses{}, 1, 1, "BLIND", false},
		{results, results, 0, 1, "ok: loss is noticed", true},
		{results, losses{}, 0, 1, "BLIND", false},
		{results, losses{calls: true, results: true}, 0, 1, "LOST", false},
		{results, losses{results: true, traces: true}, 0, 1, "LOST", false},
	} {
		tried := trial{cycles: c.cycles, done: 1, mustLose: c.must, ledger: newLedger()}
		if c.lost.calls {
			tried.ledger.loseCall(1)
		}
		if c.lost.results {
			tried.ledger.loseResult(2)
		}
		if c.lost.traces {
			tried.ledger.lostTraces[3] = true
		}
		tried.ledger.hooks.lost = c.hooks
		if got, err := tried.verdict(); got != c.want || (err == nil) != c.asWanted {
			t.Errorf("%+v: %s, %v; want %s", c, got, err, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	for args, want := range map[string]string{
		"-cycles 0":       "at least",
		"-seconds 0.01":   "at least",
		"-connections -1": "at least",
		"5":               "no flag",
		"-cycle 5":        "not defined",
		"-cycles 2":       "",
	} {
		_, err := parseSettings("kill9", strings.Fields(args))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestNewestBlock(t *testing.T) {
	dir := t.TempDir()
	var blocks []string
	for name, size := range map[string]int{"2.blk": 1 << 20, "9.blk": 2 << 20, "10.blk": 3 << 20, "11.blk": 100} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, path)
	}
	name, size, err := newestBlock(blocks, 1<<20)
	if filepath.Base(name) != "10.blk" || size != 3<<20 || err != nil {
		t.Errorf("%s of %d bytes, %v", name, size, err)
	}
	if _, _, err := newestBlock(nil, 0); err == nil {
		t.Error("a block where there is none")
	}
}
