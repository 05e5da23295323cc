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
	both := losses{calls: true, results: true}
	for _, c := range []struct {
		trial    trial
		lost     []uint64
		spoiled  []uint64
		hooks    int
		want     string
		asWanted bool
	}{
		{trial{cycles: 1, done: 1}, nil, nil, 0, "ok", true},
		{trial{cycles: 2, done: 1}, nil, nil, 0, "FAILED", true},
		{trial{cycles: 1, done: 1}, []uint64{1}, nil, 0, "LOST", false},
		{trial{cycles: 1, done: 1}, nil, []uint64{1}, 0, "LOST", false},
		{trial{cycles: 1, done: 1}, nil, nil, 1, "LOST", false},
		{trial{cycles: 1, done: 1, mustLose: both}, []uint64{1}, []uint64{2}, 0, "ok: loss is noticed", true},
		{trial{cycles: 1, done: 1, mustLose: both}, []uint64{1}, nil, 0, "BLIND", false},
		{trial{cycles: 1, done: 1, mustLose: both}, nil, []uint64{1}, 0, "BLIND", false},
		{trial{cycles: 1, done: 1, mustLose: both}, nil, nil, 1, "BLIND", false},
		{trial{cycles: 1, done: 1, mustLose: losses{results: true}}, nil, []uint64{1}, 0, "ok: loss is noticed", true},
		{trial{cycles: 1, done: 1, mustLose: losses{results: true}}, nil, nil, 0, "BLIND", false},
		{trial{cycles: 1, done: 1, mustLose: losses{results: true}}, []uint64{2}, []uint64{1}, 0, "LOST", false},
	} {
		c.trial.ledger = newLedger()
		for _, id := range c.lost {
			c.trial.ledger.miss(id)
		}
		for _, id := range c.spoiled {
			c.trial.ledger.spoil(id)
		}
		c.trial.ledger.hooks.lost = c.hooks
		if got, err := c.trial.verdict(); got != c.want || (err == nil) != c.asWanted {
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
