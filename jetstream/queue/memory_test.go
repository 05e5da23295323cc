package queue

import (
	"encoding/json"
	"testing"

	"sluice"
)

// TestOutcomesWaitForMemory: large outcomes are stored one after the other where
// there is no memory for more, and keep nobody else waiting.
func TestOutcomesWaitForMemory(t *testing.T) {
	m := newMemory(8 << 20)
	outcome := func(size int) sluice.Outcome { return sluice.Outcome{Value: make(json.RawMessage, size)} }
	release := m.settling(outcome(1 << 20))
	m.settling(outcome(1 << 10))() // a small one
	m.settling(outcome(0))()       // nothing came of the run
	waiting, entered := make(chan struct{}), make(chan struct{})
	go func() {
		close(waiting)
		defer close(entered)
		m.settling(outcome(4 << 20))() // more than there is, alone
	}()
	<-waiting
	if m.outcomes.free.TryAcquire(m.outcomes.most) {
		t.Fatal("an outcome that is being stored takes no memory")
	}
	release()
	<-entered
	if !m.outcomes.free.TryAcquire(m.outcomes.most) {
		t.Error("not all memory came back")
	}
}
