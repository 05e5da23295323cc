package jetstream

import (
	"testing"
	"time"

	"sluice"
)

// A disk that hangs must not hang the callers: they are told to come again, and
// so are those behind them.
func TestABatchThatTakesTooLongIsGivenUp(t *testing.T) {
	w := &batchWriter{calls: make(chan *call, 8)}
	answers := make(chan error, 3)
	write := func() {
		_, err := w.write(t.Context(), "subject", "id", []byte("data"))
		answers <- err
	}
	for range 2 {
		go write()
	}
	batch := []*call{<-w.calls, <-w.calls}
	w.begin(batch)
	go write()
	eventually(t, "a call waits behind the batch", func() bool { return len(w.calls) == 1 })

	w.giveUp(time.Now().Add(-time.Hour))
	if len(answers) != 0 {
		t.Fatal("a batch was given up before its time")
	}
	w.giveUp(time.Now().Add(time.Hour))
	for range 3 {
		wantKind(t, <-answers, sluice.Unavailable)
	}
	if _, open := w.end(); open {
		t.Error("the loop would answer the calls a second time")
	}
	w.begin(nil)
	w.end()
	go write()
	eventually(t, "a call waits", func() bool { return len(w.calls) == 1 })
	w.giveUp(time.Now().Add(time.Hour))
	if len(answers) != 0 {
		t.Error("a call was given up though no batch hangs")
	}
	(<-w.calls).done <- outcome{}
	<-answers
}
