//go:build !linux

package main

import "errors"

// A group is what only Linux has.
type group struct{ path string }

func newGroup(int64) (*group, error) { return nil, errors.New("it needs Linux") }

func (g *group) add(int) error { return nil }
func (g *group) remove()       {}

func awaitGroup(string) error { return nil }

func (s *server) resident() int64 { return 0 }
func (s *server) peak() int64     { return 0 }
func (s *server) resetPeak()      {}

func isInMemory(string) bool { return false }
