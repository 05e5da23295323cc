package serve

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"sluice/config"
	"sluice/limit"
)

// TestMemoryIsShared: what the settings leave open follows from the memory there
// is; what they say counts.
func TestMemoryIsShared(t *testing.T) {
	const mebibyte = 1 << 20
	tests := map[string]struct {
		flags                     map[string]string
		bodies, runs, connections int
	}{
		"a container": {map[string]string{"memory-limit": "512MiB"}, 128, 128, 8192},
		"much":        {map[string]string{"memory-limit": "8GiB"}, 2048, 2048, min(16384, connectionsOf(limit.Files()))},
		"little":      {map[string]string{"memory-limit": "128MiB"}, 24, 32, 2048},
		"all is said": {map[string]string{"memory-limit": "1GiB", "max-body-memory": "8MiB", "max-run-memory": "16MiB", "max-connections": "7"}, 8, 16, 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Load("", nil, test.flags)
			if err != nil {
				t.Fatal(err)
			}
			got := withMemory(cfg)
			if got.MaxBodyMemory/mebibyte != config.Size(test.bodies) || got.MaxRunMemory != config.Size(test.runs*mebibyte) || got.MaxConnections != test.connections {
				t.Errorf("bodies have %d, runs %d MiB, and there are %d connections", got.MaxBodyMemory/mebibyte, got.MaxRunMemory/mebibyte, got.MaxConnections)
			}
			if again := withMemory(got); again.MaxBodyMemory != got.MaxBodyMemory {
				t.Error("it differs when it is done again")
			}
		})
	}
	if cfg := withMemory(config.Config{}); cfg.MemoryLimit < 64*mebibyte {
		t.Errorf("this machine has %d MiB", cfg.MemoryLimit/mebibyte)
	}
}

// TestConnectionsNeedFiles: there are never more connections than files that may be open.
func TestConnectionsNeedFiles(t *testing.T) {
	for files, want := range map[int]int{math.MaxInt32: 8192, 65536: 8192, 8192: 6144, 1024: 768, 300: 44, 10: 1} {
		var log strings.Builder
		got := withFiles(config.Config{MaxConnections: 8192}, files, slog.New(slog.NewTextHandler(&log, nil)))
		if got.MaxConnections != want || strings.Contains(log.String(), "lowered") != (want < 8192) {
			t.Errorf("%d files allow %d connections, want %d; the log has %q", files, got.MaxConnections, want, log.String())
		}
	}
	if files := limit.Files(); files < 100 {
		t.Errorf("this process may open %d files", files)
	}
}

// TestSharesFit: all shares together are less than what the collector keeps to, and
// docs/limits.md has every one of them, with its size.
func TestSharesFit(t *testing.T) {
	const mebibyte = 1 << 20
	for _, available := range []string{"256MiB", "512MiB", "2GiB"} {
		cfg, err := config.Load("", nil, map[string]string{"memory-limit": available})
		if err != nil {
			t.Fatal(err)
		}
		all, sum := sharesOf(withMemory(cfg)), int64(0)
		for _, bytes := range all.named() {
			sum += bytes
		}
		if sum > all.collector {
			t.Errorf("of %s, %d MiB are shared out; the collector keeps to %d", available, sum/mebibyte, all.collector/mebibyte)
		}
		if fields := reflect.TypeFor[shares]().NumField() - 1; fields != len(all.named()) {
			t.Errorf("%d shares, %d names", fields, len(all.named()))
		}
	}
	page, err := os.ReadFile("../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| Share | Setting | Default | Of 512 MiB | Beyond |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) == 5 {
			documented[strings.TrimPrefix(cells[0], "| ")] = cells[3]
		}
	}
	cfg := withMemory(config.Config{MemoryLimit: 512 * mebibyte})
	for name, bytes := range sharesOf(cfg).named() {
		if want, size := fmt.Sprintf("%d MiB", bytes/mebibyte), documented[name]; size != want {
			t.Errorf("the share %q is documented as %q, and is %s", name, size, want)
		}
		delete(documented, name)
	}
	delete(documented, "connections")
	if len(documented) > 0 {
		t.Errorf("these shares are documented, and not there: %v", documented)
	}
}

// TestTune: the runtime keeps to the memory there is, unless the environment says
// otherwise, and has one processor more than it may use.
func TestTune(t *testing.T) {
	procs, bytes, percent := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(math.MaxInt64), debug.SetGCPercent(100)
	defer func() {
		runtime.GOMAXPROCS(procs)
		debug.SetMemoryLimit(bytes)
		debug.SetGCPercent(percent)
	}()
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOMAXPROCS", "")
	runtime.GOMAXPROCS(2) // as a container with two cores of many has it
	tune(config.Config{MemoryLimit: 800 << 20})
	if got := debug.SetMemoryLimit(-1); got != 700<<20 {
		t.Errorf("the memory limit is %d MiB", got>>20)
	}
	if got := runtime.GOMAXPROCS(0); got != 3 {
		t.Errorf("there are %d processors", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	t.Setenv("GOMEMLIMIT", "1GiB")
	t.Setenv("GOMAXPROCS", "3")
	tune(config.Config{MemoryLimit: 800 << 20})
	if got, procs := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0); got != math.MaxInt64 || procs != 3 {
		t.Errorf("it does not leave %d and %d alone", got, procs)
	}
}

// named returns the shares as docs/security.md names them. Their sum is below the
// collector's limit.
func (s shares) named() map[string]int64 {
	return map[string]int64{
		"bodies of known senders and users":       s.bodies,
		"large answers that are not read yet":     s.answers,
		"bodies of strangers, and headers of all": s.strangers,
		"events that runs have open":              s.events,
		"values that runs make":                   s.values,
		"large results that are being stored":     s.results,
		"events that searches in payloads read":   s.searches,
		"what is known of events that wait":       s.waiting,
		"ids of deliveries":                       s.deliveries,
		"records that users store":                s.records,
	}
}
