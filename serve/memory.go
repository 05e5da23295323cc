package serve

import (
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"sluice"
	"sluice/config"
	"sluice/limit"
)

// withMemory fills in the settings about memory. A quarter of the memory is for bodies and
// answers, a quarter for runs; of a small container it is a third of what the server leaves.
func withMemory(cfg config.Config) config.Config {
	if cfg.MemoryLimit == 0 {
		cfg.MemoryLimit = config.Size(limit.Available())
	}
	collector := collectorOf(cfg.MemoryLimit)
	// Two sevenths of the collector's seven eighths are a quarter of all.
	quarter := min(collector*2/7, (collector-ownMemory)/3)
	if cfg.MaxBodyMemory == 0 {
		cfg.MaxBodyMemory = max(quarter, leastBodyMemory)
	}
	if cfg.MaxRunMemory == 0 {
		cfg.MaxRunMemory = max(quarter, leastRunMemory)
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = min(int(min(cfg.MemoryLimit/perConnection, maxConnections)), connectionsOf(limit.Files()))
	}
	return cfg
}

// connectionsOf returns how many connections some files allow. The engine and pipelines need
// some, too.
func connectionsOf(files int) int {
	const leastKept = 256
	return max(files-max(files/4, leastKept), 1)
}

// withFiles bounds connections by the files that the process may have open, and tells the operator
// if there are fewer than they asked for.
func withFiles(cfg config.Config, files int, log *slog.Logger) config.Config {
	if most := connectionsOf(files); cfg.MaxConnections > most {
		log.Warn("The limit on open files allows fewer connections than max-connections: it is lowered. Raise the "+
			"limit (ulimit -n, LimitNOFILE) for more.",
			"connections", most, "maxConnections", cfg.MaxConnections, "openFiles", files)
		cfg.MaxConnections = most
	}
	return cfg
}

// Bounds on connections: one with an unfinished call takes up to half of perConnection, so
// all together take at most half of the memory.
const (
	maxConnections = 16384
	perConnection  = 64 << 10
)

// ownMemory is what a server takes by itself: its engine, its records, its connections.
const ownMemory = 64 << 20

// The least memory of bodies and runs, however small the container: with less, the largest
// allowed ones would never fit.
const (
	leastBodyMemory = 24 << 20
	leastRunMemory  = 32 << 20
)

// collectorOf returns what the garbage collector keeps to of some memory. The rest is for
// buffers of the kernel, and for what the collector falls behind: an eighth, and up to a third
// of a small container.
func collectorOf(all config.Size) config.Size {
	const enough = 512 << 20
	return all - max(all/8, min(all/3, enough/8+(enough-all)/12))
}

// strangerMemory is for the bodies of all unauthenticated callers: four of the largest,
// each with a byte to see its end.
const strangerMemory = 4 * (sluice.MaxPayloadLength + 1)

// shares are the parts of the memory limit, in bytes. Connections have none: idle ones take
// little, and when many have a call, the pressure is high, so bodies and values wait.
type shares struct {
	collector int64 // the garbage collector's limit, without the kernel's buffers

	bodies     int64 // of known senders and users, with their copies
	answers    int64
	strangers  int64
	events     int64
	values     int64
	results    int64 // half of what events have; the queue takes it in addition
	searches   int64
	waiting    int64 // what is known of events that wait
	deliveries int64
	records    int64
}

func sharesOf(cfg config.Config) shares {
	all, bodies, runs := int64(cfg.MemoryLimit), int64(cfg.MaxBodyMemory), int64(cfg.MaxRunMemory)
	return shares{
		collector:  int64(collectorOf(cfg.MemoryLimit)),
		bodies:     bodies / 4 * 3,
		answers:    bodies / 4,
		strangers:  strangerMemory,
		events:     runs / 2,
		values:     runs / 2,
		results:    runs / 4,
		searches:   all / 32,
		waiting:    all / 12,
		deliveries: all / 8,
		records:    all / 32,
	}
}

// tune sets up the runtime for many short calls, blocking system calls and the available
// memory, unless the environment does. docs/decisions has the measurements.
func tune(cfg config.Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(sharesOf(cfg).collector)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) // of the cores that the container may use
	}
}
