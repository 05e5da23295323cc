package serve

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"sluice/config"
	"sluice/limit"
)

// withMemory returns the settings with what they leave open about memory. A quarter
// is for bodies and a quarter for runs; the engine, connections and what is
// garbage by now share the rest.
func withMemory(cfg config.Config) config.Config {
	if cfg.MemoryLimit == 0 {
		cfg.MemoryLimit = config.Size(limit.Available())
	}
	if cfg.MaxBodyMemory == 0 {
		cfg.MaxBodyMemory = max(cfg.MemoryLimit/4, leastBodyMemory)
	}
	if cfg.MaxRunMemory == 0 {
		cfg.MaxRunMemory = max(cfg.MemoryLimit/4, leastRunMemory)
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = int(min(cfg.MemoryLimit/perConnection, maxConnections))
	}
	return cfg
}

// How many connections there may be: one with an unfinished call takes up to half
// of perConnection, so all together take at most half of the memory.
const (
	maxConnections = 16384
	perConnection  = 64 << 10
)

// What bodies and runs have however small a container is: less would refuse the
// largest that are allowed.
const (
	leastBodyMemory = 24 << 20
	leastRunMemory  = 32 << 20
)

// tune sets the runtime for many short calls beside system calls that block,
// and for the memory there is, unless the environment says otherwise: measured,
// see docs/decisions.
func tune(cfg config.Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		// The rest is what the runtime doesn't know of, such as the buffers of
		// connections in the kernel.
		debug.SetMemoryLimit(int64(cfg.MemoryLimit) / 8 * 7)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) // of the cores that the container may use
	}
}
