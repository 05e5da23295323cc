package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// A bench is one run of the benchmark.
type bench struct {
	rounds int
	burst  time.Duration // length of one burst of load
	wrk    string        // path of the program, empty where it isn't installed

	against string // path of another sluice program to compare with, if any

	dir      string // of this run, removed at its end
	part     string // folder of the running part
	children sync.WaitGroup
	table    table
}

// newBench makes a folder for the data of a run. It is not in the system's
// folder for temporary files: that may be in memory, where a sync costs nothing.
func newBench(dir string, rounds int, burst time.Duration) (*bench, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = os.MkdirTemp(dir, "sluice-bench-"); err != nil {
		return nil, err
	}
	// A commit made meanwhile must not take the data along.
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b := &bench{rounds: rounds, burst: burst, dir: dir}
	if b.wrk, err = exec.LookPath("wrk"); err != nil {
		progressf("wrk is not installed: the load comes from a generator in Go, which takes more of the machine")
	}
	return b, nil
}

func (b *bench) close() {
	if err := os.RemoveAll(b.dir); err != nil {
		progressf("can't remove the data: %v", err)
	}
}

// measure runs parts one after the other.
func (b *bench) measure(ctx context.Context, chosen []part) error {
	for _, p := range chosen {
		if err := b.measurePart(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// measurePart runs one part. What the part has started ends with it, and its
// data goes, so that no part disturbs the next.
func (b *bench) measurePart(ctx context.Context, p part) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		b.children.Wait()
		_ = os.RemoveAll(b.part) // close tries again, and reports it
	}()
	b.part = filepath.Join(b.dir, p.name)
	if err := os.Mkdir(b.part, 0o700); err != nil {
		return err
	}
	return p.measure(ctx, b)
}

// pause waits a moment, less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// progressf tells the user what is going on.
func progressf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
