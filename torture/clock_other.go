//go:build !linux || !amd64

package main

import "errors"

// bendClock is possible elsewhere, too, but written for one machine only.
func bendClock(string) error { return errors.New("the clock can be bent on Linux on amd64 only") }
