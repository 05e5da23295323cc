package serve

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"sluice"
	"sluice/config"
	"sluice/limit"
)

// withMemory returns the settings with what they leave open about memory. A quarter
// is for bodies and answers, a quarter for runs.
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

// strangerMemory is what all bodies of unauthenticated callers share: four of
// the largest, each with space to see its end.
const strangerMemory = 4 * (sluice.MaxPayloadLength + 1)

// shares are the parts of the memory limit, in bytes. Connections have none: those that
// wait for a call take little, and when many have one, the pressure is high, from which
// on bodies and values wait whatever is left of their share.
type shares struct {
	collector int64 // what the garbage collector keeps to: the kernel's buffers are not in it

	bodies     int64 // of known senders and users, with their copies
	answers    int64
	strangers  int64
	events     int64
	values     int64
	results    int64 // which the queue takes in addition to half of what events have
	searches   int64
	deliveries int64
}

// sharesOf returns the shares of a server with these settings.
func sharesOf(cfg config.Config) shares {
	all, bodies, runs := int64(cfg.MemoryLimit), int64(cfg.MaxBodyMemory), int64(cfg.MaxRunMemory)
	return shares{
		collector:  all / 8 * 7,
		bodies:     bodies / 4 * 3,
		answers:    bodies / 4,
		strangers:  strangerMemory,
		events:     runs / 2,
		values:     runs / 2,
		results:    runs / 4,
		searches:   all / 16,
		deliveries: all / 8,
	}
}

// named returns the shares as docs/security.md names them. All of them together are
// less than what the collector keeps to.
func (s shares) named() map[string]int64 {
	return map[string]int64{
		"bodies of known senders and users":     s.bodies,
		"large answers that are not read yet":   s.answers,
		"bodies of strangers":                   s.strangers,
		"events that runs have open":            s.events,
		"values that runs make":                 s.values,
		"large results that are being stored":   s.results,
		"events that searches in payloads read": s.searches,
		"ids of deliveries":                     s.deliveries,
	}
}

// tune sets the runtime for many short calls beside system calls that block,
// and for the memory there is, unless the environment says otherwise: measured,
// see docs/decisions.
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
