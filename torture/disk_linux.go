package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// diskMode lets the disk under the server misbehave. After each fault the server is
// started on what a power cut leaves.
var diskMode = mode{
	name:    "disk",
	summary: "let the disk fail, hang, be slow, full, or lie (root, Linux)",
	run: func(ctx context.Context, s settings) error {
		if err := canMount(); err != nil {
			return err
		}
		f := &faultyDisk{image: image{parent: s.dir, size: imageSize(s)}}
		random := s.random()
		cut := func(s *server) error { return f.cutPower(random, s) }
		breaks := func(m misbehaviour) func(context.Context, *move) error {
			return func(ctx context.Context, mv *move) error { return f.breaks(ctx, mv, m, cut) }
		}
		return runTrials(ctx, f, s.trials(
			trial{takeDown: func(s *server) error { return errors.Join(s.stop(), f.restart()) }},
			[]trial{
				{name: "power-cut", anyTime: true, takeDown: cut},
				// So there are always some flushes under way.
				{name: "power-cut-lazy", anyTime: true, takeDown: cut, prepare: func() error {
					f.device.set(misbehaviour{delay: lazyFlush})
					return nil
				}},
				{name: "slow", takeDown: cut, moveOn: func(ctx context.Context, mv *move) error {
					return f.stalls(ctx, mv, misbehaviour{delay: slowFlush}, cut)
				}},
				{name: "hang", takeDown: cut, moveOn: func(ctx context.Context, mv *move) error {
					return f.stalls(ctx, mv, misbehaviour{hangs: make(chan struct{})}, cut)
				}},
				{name: "write-error", moveOn: breaks(misbehaviour{write: syscall.EIO})},
				{name: "write-error-once", moveOn: breaks(misbehaviour{write: syscall.EIO, once: true})},
				{name: "flush-error", moveOn: breaks(misbehaviour{flush: syscall.EIO})},
				{name: "flush-error-once", moveOn: breaks(misbehaviour{flush: syscall.EIO, once: true})},
				{name: "device-full", moveOn: breaks(misbehaviour{write: syscall.ENOSPC})},
				{name: "nearly-full",
					moveOn: func(ctx context.Context, mv *move) error { return f.fills(ctx, mv, minFree, cut) }},
				{name: "full", options: []string{"min-free-disk=1"},
					moveOn: func(ctx context.Context, mv *move) error { return f.fills(ctx, mv, 0, cut) }},
			},
			// What the start wrote is stored, so that the figure is about calls.
			trial{name: "negative control", takeDown: cut, mustLose: losses{calls: true, results: true, traces: true},
				prepare: func() error {
					err := f.sync()
					f.device.set(misbehaviour{lies: true})
					return err
				}},
		))
	},
}

// crashDisk returns a disk, a way to take a server on it down, and a trial that loses data: its
// servers sync nothing.
func crashDisk(s settings) (d disk, takeDown func(*server) error, lose trial) {
	if canMount() != nil {
		f := &folder{parent: s.dir, inFlight: int64(s.connections) * 2 * longestBody}
		return f, func(s *server) error { s.kill(); return nil }, trial{takeDown: f.killAndDamage}
	}
	i := &image{parent: s.dir, size: imageSize(s)}
	return i, i.cutPower, trial{takeDown: i.cutPower, options: []string{syncNothing}, prepare: i.sync}
}

const (
	lazyFlush = 300 * time.Millisecond
	slowFlush = 6 * time.Second  // longer than calls wait
	stalled   = 15 * time.Second // that the disk is slow, or hangs
	endWithin = 20 * time.Second // the server, when its disk fails
	minFree   = 512 << 20        // what the server leaves of a disk by default
	blindBar  = 2 * time.Second  // that it may say it is ready while it takes no call
)

// stalls lets flushes take long. Meanwhile the server must say that it is not ready, and
// take calls again, by itself, when it is over.
func (f *faultyDisk) stalls(ctx context.Context, mv *move, m misbehaviour, cut func(*server) error) error {
	f.device.set(m)
	blind, refused := mv.watch(ctx, stalled)
	f.device.set(misbehaviour{})
	switch err := mv.recovers(ctx); {
	case err != nil:
		return err
	case !refused:
		return errors.New("calls were taken all the time: the disk was not slow")
	case blind > blindBar:
		return fmt.Errorf("the server said for %v that it was ready, and took no call", blind)
	}
	return cut(mv.server)
}

// watch watches the server for a while: how long it says that it is ready while it has
// taken no call for longer than a call may wait, and whether there was such a time.
func (m *move) watch(ctx context.Context, during time.Duration) (blind time.Duration, refused bool) {
	const every = 250 * time.Millisecond
	acked, taken := m.ledger.acked(), time.Now()
	for until := time.Now().Add(during); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx, every) {
		if now := m.ledger.acked(); now > acked {
			acked, taken = now, time.Now()
		}
		if time.Since(taken) < longestWait {
			continue
		}
		refused = true
		if isReady(ctx, m.url) {
			blind += every
		}
	}
	return blind, refused
}

// breaks lets requests fail. The server must end by itself: it can't know any more what
// is stored.
func (f *faultyDisk) breaks(ctx context.Context, mv *move, m misbehaviour, cut func(*server) error) error {
	f.device.set(m)
	select {
	case <-mv.server.exited:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(endWithin):
		if !m.once {
			return fmt.Errorf("the server goes on for %v on a disk that fails", endWithin)
		}
	}
	return cut(mv.server)
}

// fills fills the disk up to some bytes. Calls must be refused, and taken again when
// there is space. Where nothing is kept free, the server may end instead.
func (f *faultyDisk) fills(ctx context.Context, mv *move, leave int64, cut func(*server) error) error {
	ballast := filepath.Join(f.point(), "ballast")
	if err := f.fill(ballast, leave+1<<20); err != nil {
		return err
	}
	blind, refused := mv.watch(ctx, stalled)
	err := os.Remove(ballast)
	select {
	case <-mv.server.exited:
		if leave == 0 {
			return errors.Join(err, cut(mv.server))
		}
	default:
	}
	if err = errors.Join(err, mv.recovers(ctx)); err != nil {
		return err
	}
	switch {
	case !refused:
		return errors.New("calls were taken all the time: the disk was not full")
	case blind > blindBar:
		return fmt.Errorf("the server said for %v that it was ready, and took no call", blind)
	}
	return cut(mv.server)
}

// fill takes all but some bytes of the disk with a file.
func (f *faultyDisk) fill(name string, leave int64) error {
	var space syscall.Statfs_t
	if err := syscall.Statfs(f.point(), &space); err != nil {
		return err
	}
	size := int64(space.Bavail)*space.Bsize - leave
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Fallocate(int(file.Fd()), 0, 0, size), file.Close())
}
