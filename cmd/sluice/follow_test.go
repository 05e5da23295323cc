package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/serve"
)

// TestCallsAreFollowed: the live tail goes on after the server was away.
func TestCallsAreFollowed(t *testing.T) {
	t.Parallel()
	if !slices.Contains(serve.Commands().Names(), "trace.get") {
		t.Skip("this server has no traces")
	}
	const key = "webhook.followed"
	h := startHooked(t, key)
	dir := t.TempDir()
	l := run(t, h.url, dir, "trace", "--event-key", key, "--follow")
	l.untilFollowed(h, "a")
	h.stop(t, syscall.SIGTERM)
	h.restart(t, strings.TrimPrefix(h.url, "http://"))
	h.call(t, "after", "Content-Type", "text/after") // the only one of 5 bytes
	l.says(l.out, `"size":5,`)
	l.interrupt()
	h.stop(t, syscall.SIGTERM)
}

// untilFollowed calls the webhook until the tail tells of it: when it begins
// nobody can see.
func (l *listening) untilFollowed(h *hooked, body string) {
	l.t.Helper()
	seen := make(chan bool)
	go func() { seen <- l.out.Scan() }()
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for {
		h.call(l.t, body)
		select {
		case ok := <-seen:
			if !ok {
				l.t.Fatal("the tail has ended")
			}
			return
		case <-pace.C:
		}
	}
}
