package jetstream

import (
	"fmt"
	"slices"
	"sync"
)

// A lossLog is what the disk has lost or spoiled, as far as that is known.
type lossLog struct {
	mu    sync.Mutex
	texts []string

	// What the start has found: messages that are lost and no events, and unfinished writes.
	others, cutOff int64
}

func (l *lossLog) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.texts, text) {
		l.texts = append(l.texts, text)
	}
}

// first returns the first entries.
func (l *lossLog) first() []string {
	const most = 20
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.texts) <= most {
		return slices.Clone(l.texts)
	}
	return append(slices.Clone(l.texts[:most]), fmt.Sprintf("and %d more; the log has them all", len(l.texts)-most))
}
