package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// kill9 kills the server's process. Writes that were not synced survive that: it proves that a
// start after a crash finds everything, but nothing about the disk.
var kill9 = mode{
	name:    "kill9",
	summary: "kill the process at random moments",
	run: func(ctx context.Context, s settings) error {
		f := &folder{parent: s.dir, inFlight: int64(s.connections) * 2 * longestBody}
		return runTrials(ctx, f, s.trials(
			trial{takeDown: (*server).stop},
			[]trial{{name: "kill9", anyTime: true, takeDown: func(s *server) error { s.kill(); return nil }}},
			trial{
				name: "negative control", takeDown: f.killAndDamage,
				mustLose: losses{calls: true, results: true, traces: true},
			},
		))
	},
}

// A folder is a disk that nothing happens to.
type folder struct {
	parent   string
	path     string
	inFlight int64 // bytes of events that may not have been acknowledged
}

func (f *folder) data() string { return filepath.Join(f.path, "data") }

// setUp implements disk.
func (f *folder) setUp() (data string, err error) {
	f.path, err = os.MkdirTemp(f.parent, "torture-")
	return f.data(), err
}

// clear implements disk.
func (f *folder) clear() error { return os.RemoveAll(f.path) }

// killAndDamage kills the server and cuts off the second half of the newest
// blocks of events and of results. Results are a few times smaller than events.
func (f *folder) killAndDamage(s *server) error {
	s.kill()
	return errors.Join(f.damage(eventStream, 2*f.inFlight), f.damage("RESULTS", f.inFlight/8))
}

// damage cuts off the second half of a stream's newest block of at least that
// size.
func (f *folder) damage(stream string, least int64) error {
	blocks, err := filepath.Glob(filepath.Join(engineDir(f.data()), "jetstream", "$G", "streams", stream, "msgs",
		"*.blk"))
	if err != nil {
		return err
	}
	name, size, err := newestBlock(blocks, least)
	if err != nil {
		return err
	}
	return os.Truncate(name, size/2)
}

// newestBlock returns the newest block that has at least that size.
func newestBlock(blocks []string, least int64) (name string, size int64, err error) {
	newest := 0
	for _, block := range blocks {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(block), "%d.blk", &n); err != nil {
			return "", 0, err
		}
		info, err := os.Stat(block)
		if err != nil {
			return "", 0, err
		}
		if n > newest && info.Size() >= least {
			newest, name, size = n, block, info.Size()
		}
	}
	if newest == 0 {
		return "", 0, errors.New("no block of a stream is large enough to be damaged: load longer")
	}
	return name, size, nil
}
