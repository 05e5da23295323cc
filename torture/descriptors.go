package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"
)

// descriptorsMode takes all file descriptors that a server may have, with connections that
// say nothing. It must go on, take calls again as soon as they are gone, and lose nothing.
var descriptorsMode = mode{
	name:    "descriptors",
	summary: "take all its file descriptors (Linux)",
	run: func(ctx context.Context, s settings) error {
		f := &folder{parent: s.dir, inFlight: int64(s.connections) * 2 * longestBody}
		options := []string{fmt.Sprintf("%s=%d", descriptorsOption, descriptors)}
		return runTrials(ctx, f, s.trials(
			trial{options: options, takeDown: (*server).stop},
			[]trial{{name: "descriptors", options: options, moveOn: func(ctx context.Context, m *move) error {
				if err := m.exhaust(ctx); err != nil {
					return err
				}
				m.server.kill()
				return nil
			}}},
			trial{
				name: "negative control", options: options, takeDown: f.killAndDamage,
				mustLose: losses{calls: true, results: true, traces: true},
			},
		))
	},
}

const (
	descriptorsOption = "descriptors" // of a server: how many files it may have open
	descriptors       = 1024
	exhausted         = 8 * time.Second // that there are none left
)

// exhaust opens more connections than the server has descriptors, for a while.
func (m *move) exhaust(ctx context.Context) error {
	target, err := url.Parse(m.url)
	if err != nil {
		return err
	}
	var idle []net.Conn
	defer func() {
		for _, c := range idle {
			_ = c.Close()
		}
	}()
	most := 0
	for until := time.Now().Add(exhausted); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx,
		20*time.Millisecond) {
		for range 10 {
			if c, err := net.DialTimeout("tcp", target.Host, time.Second); err == nil && len(idle) < 2*descriptors {
				idle = append(idle, c)
			} else if err == nil {
				_ = c.Close()
			}
		}
		open, err := os.ReadDir("/proc/" + strconv.Itoa(m.server.cmd.Process.Pid) + "/fd")
		if err != nil {
			return errors.Join(errors.New("the server ended for want of descriptors"), err)
		}
		most = max(most, len(open))
	}
	if most < descriptors/2 {
		return fmt.Errorf("the server had %d files open at most: they were never scarce", most)
	}
	for _, c := range idle {
		_ = c.Close()
	}
	return m.recovers(ctx)
}
