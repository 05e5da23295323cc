package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// settings are what the flags of a mode say.
type settings struct {
	cycles      int
	longest     time.Duration // of the load before the server goes down
	connections int
	seed        uint64
	dir         string
	control     bool
	negative    bool
	faults      string        // of the mode cluster: which ones
	attack      string        // "": all of them
	minutes     time.Duration // of a soak
	events      int           // of the mode restart: those that are there before
	steps       int           // of a walk, at most
	nodes       int           // of a walk; more than one have an external engine
}

// parseSettings reads the flags of a mode.
func parseSettings(mode string, args []string) (settings, error) {
	var s settings
	var seconds, minutes float64
	flags := flag.NewFlagSet("torture "+mode, flag.ContinueOnError)
	flags.IntVar(&s.cycles, "cycles", 5,
		"how often the server is taken down; for damage, each stands for 40 damaged files")
	flags.Float64Var(&seconds, "seconds", 3, "longest `time` of load in a cycle; it ends at a random moment")
	flags.IntVar(&s.connections, "connections", 64, "callers at the same time")
	flags.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "repeats the choices of an earlier run")
	flags.StringVar(&s.dir, "dir", os.TempDir(), "`folder` for the data; it is removed in the end")
	flags.BoolVar(&s.control, "control", true, "run the control")
	flags.BoolVar(&s.negative, "negative", true, "run the negative control")
	flags.StringVar(&s.faults, "faults", "", "comma-separated `names` of the faults to try; a part of the names of files, for damage")
	flags.Float64Var(&minutes, "minutes", 10, "how long a soak takes")
	flags.IntVar(&s.events, "events", 1000, "that are stored before the first restart")
	flags.IntVar(&s.steps, "steps", 1<<30, "of a walk, at most")
	flags.IntVar(&s.nodes, "nodes", 1, "of a walk; several have an external engine of three servers")
	flags.StringVar(&s.attack, "attack", "", "of a siege, only attacks with this `name` or a part of it")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.longest = time.Duration(seconds * float64(time.Second))
	s.minutes = time.Duration(minutes * float64(time.Minute))
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("%q is no flag", flags.Arg(0))
	case s.cycles < 1 || s.connections < 1 || s.nodes < 1 || s.longest < shortest:
		return s, errors.New("-cycles, -connections and -nodes must be at least 1, -seconds at least 0.1")
	}
	return s, nil
}

// shortest is the least time of load before the server goes down.
const shortest = 100 * time.Millisecond

// random returns the source of all choices. The load itself depends on timing
// and can't be repeated.
func (s settings) random() *rand.Rand { return rand.New(rand.NewPCG(s.seed, 0)) }

// moment returns how long a cycle's load lasts.
func (s settings) moment(random *rand.Rand) time.Duration {
	return shortest + time.Duration(random.Int64N(int64(s.longest-shortest)+1))
}
