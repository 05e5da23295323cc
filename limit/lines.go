package limit

import (
	"context"
	"sync"
)

// Lines has a line for each key: few are at its head, the others wait behind them. Whoever lets only
// the heads wait for what all share is as fair to a key with few as to one with many.
type Lines struct {
	heads int

	mu    sync.Mutex
	lines map[string]*line
}

type line struct {
	head    chan struct{} // has one for each at its head
	members int
}

// NewLines returns lines with so many at the head of each.
func NewLines(heads int) *Lines { return &Lines{heads: heads, lines: make(map[string]*line)} }

// Enter waits until the caller is at the head of a line, and keeps it there until leave is called.
func (ls *Lines) Enter(ctx context.Context, key string) (leave func(), err error) {
	ls.mu.Lock()
	l := ls.lines[key]
	if l == nil {
		l = &line{head: make(chan struct{}, ls.heads)}
		ls.lines[key] = l
	}
	l.members++
	ls.mu.Unlock()
	gone := func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if l.members--; l.members == 0 {
			delete(ls.lines, key)
		}
	}
	select {
	case l.head <- struct{}{}:
		return func() { <-l.head; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}
