package serve

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"sluice/config"
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
		"much":        {map[string]string{"memory-limit": "8GiB"}, 2048, 2048, 16384},
		"little":      {map[string]string{"memory-limit": "128MiB"}, 32, 32, 2048},
		"all is said": {map[string]string{"memory-limit": "1GiB", "max-body-memory": "8MiB", "max-run-memory": "16MiB", "max-connections": "7"}, 8, 16, 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Load("", nil, test.flags)
			if err != nil {
				t.Fatal(err)
			}
			got := withMemory(cfg)
			if got.MaxBodyMemory != config.Size(test.bodies*mebibyte) || got.MaxRunMemory != config.Size(test.runs*mebibyte) || got.MaxConnections != test.connections {
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
