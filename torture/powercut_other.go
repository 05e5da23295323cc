//go:build !linux

package main

import (
	"context"
	"errors"
)

// powerCut needs what only Linux has.
var powerCut = mode{
	name:    "power-cut",
	summary: "cut the power of the disk at random moments (root, Linux)",
	run: func(context.Context, settings) error {
		return errors.New("power-cut needs Linux: it cuts the power of a mounted ext4 image")
	},
}
