package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// powerCut cuts the power of the disk under the server: what was not synced by
// then is gone.
var powerCut = mode{
	name:    "power-cut",
	summary: "cut the power of the disk at random moments (root, Linux)",
	run: func(ctx context.Context, s settings) error {
		if err := canMount(); err != nil {
			return err
		}
		i := &image{parent: s.dir, size: imageSize(s)}
		return runTrials(ctx, i, s.trials(
			trial{takeDown: i.stop},
			[]trial{{name: "power-cut", anyTime: true, takeDown: i.cutPower}},
			// The writes of the start are synced: the figure must be about events, not about a
			// stream that was never there.
			trial{
				name: "negative control", takeDown: i.cutPower, options: []string{syncNothing}, prepare: i.sync,
				mustLose: losses{calls: true, results: true, traces: true},
			},
			trial{
				name: "negative control, results", takeDown: i.cutPower, options: []string{syncNoResults},
				mustLose: losses{results: true},
			},
		))
	},
}

// canMount returns what is missing to work with images.
func canMount() error {
	if os.Geteuid() != 0 {
		return errors.New("power-cut mounts an image, so it must run as root")
	}
	for _, program := range []string{"mkfs.ext4", "mount", "umount"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("power-cut needs %s: %w", program, err)
		}
	}
	return nil
}

// imageSize returns a size with space for all cycles beside the free space that
// the server insists on. The file is sparse: it takes what is written.
func imageSize(s settings) int64 {
	const perSecond = 64 << 20
	return 2<<30 + int64(float64(s.cycles)*s.longest.Seconds()*perSecond)
}

// stop stops the server cleanly and mounts the image afresh.
func (i *image) stop(s *server) error {
	return errors.Join(s.stop(), i.unmount(), i.mount())
}

// settled is how long a stopped process takes to leave the kernel, and answers
// that were sent to reach their callers.
const settled = 50 * time.Millisecond

// cutPower halts the server, drops what its disk has not stored, and mounts the
// disk as it is found when the power comes back.
func (i *image) cutPower(s *server) error {
	s.signal(syscall.SIGSTOP)
	time.Sleep(settled)
	err := i.shutDown()
	s.kill()
	return errors.Join(err, i.unmount(), i.mount())
}

// A power is that of a disk which one process writes to.
type power struct {
	*image

	data string // folder on the disk
}

// hasPower reports whether there can be such disks.
func hasPower() bool { return canMount() == nil }

// newPower makes a disk.
func newPower(dir string) (*power, error) {
	const size = 1 << 30 // of a sparse file
	p := &power{image: &image{parent: dir, size: size}}
	var err error
	if p.data, err = p.setUp(); err != nil {
		return nil, errors.Join(err, p.clear())
	}
	return p, nil
}

// cut cuts the power under a process, which ends.
func (p *power) cut(s *server) error { return p.cutPower(s) }
