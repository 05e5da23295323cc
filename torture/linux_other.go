//go:build !linux

package main

import (
	"context"
	"errors"
)

// powerCut and diskMode need what only Linux has.
var powerCut = mode{
	name:    "power-cut",
	summary: "cut the power of the disk at random moments (root, Linux)",
	run: func(context.Context, settings) error {
		return errors.New("power-cut needs Linux: it cuts the power of a mounted ext4 image")
	},
}

var diskMode = mode{
	name:    "disk",
	summary: "let the disk fail, hang, be slow, full, or lie (root, Linux)",
	run: func(context.Context, settings) error {
		return errors.New("disk needs Linux: it mounts a device of its own")
	},
}

// A power is that of a disk which one process writes to. There are none here.
type power struct{ data string }

func hasPower() bool { return false }
func newPower(string) (*power, error) {
	return nil, errors.New("only Linux can cut the power of a disk")
}
func (p *power) cut(*server) error { return nil }
func (p *power) clear() error      { return nil }

// crashDisk returns a disk, a way to take a server on it down, and a trial that loses data.
func crashDisk(s settings) (d disk, takeDown func(*server) error, lose trial) {
	f := &folder{parent: s.dir, inFlight: int64(s.connections) * 2 * longestBody}
	return f, func(s *server) error { s.kill(); return nil }, trial{takeDown: f.killAndDamage}
}
