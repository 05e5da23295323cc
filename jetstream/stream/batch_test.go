package stream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sluice"
	"sluice/jetstream/natstest"
)

// A disk that hangs must not hang the callers: they and those behind them are told to try
// again.
func TestABatchThatTakesTooLongIsGivenUp(t *testing.T) {
	h := NewEmbedded(slog.New(slog.DiscardHandler), t.TempDir())
	h.SetReady()
	w := &batchWriter{host: h, waiting: make(chan *entry, 8)}
	h.add(w)
	answers := make(chan error, 3)
	write := func() {
		_, err := w.Write(t.Context(), "subject", nil, []byte("data"))
		answers <- err
	}
	for range 2 {
		go write()
	}
	batch := []*entry{<-w.waiting, <-w.waiting}
	w.begin(batch)
	go write()
	natstest.Eventually(t, "a call waits behind the batch", func() bool { return len(w.waiting) == 1 })

	w.giveUp(time.Now().Add(-time.Hour))
	if len(answers) != 0 || h.Ready() != nil {
		t.Fatalf("a batch was given up before its time (%v)", h.Ready())
	}
	if h.SyncAge() <= 0 {
		t.Error("the batch has no age")
	}
	w.giveUp(time.Now().Add(time.Hour))
	for range 3 {
		wantKind(t, <-answers, sluice.Unavailable)
	}
	if w.mayTry() {
		t.Error("the disk is tried under a batch that hangs")
	}
	if w.end(nil) {
		t.Error("the loop would answer the calls a second time")
	}
	slow := func(what string, want bool) {
		t.Helper()
		err := h.Ready()
		if (err != nil) != want || err != nil && sluice.AsError(err).Code != string(sluice.CodeDiskSlow) {
			t.Errorf("%s: the host says %v", what, err)
		}
	}
	slow("a batch that ended too late", true)
	w.begin([]*entry{})
	w.end(errors.New("not stored"))
	slow("a failed batch", true)
	w.begin([]*entry{})
	w.end(nil)
	slow("a good batch", false)
	if h.SyncAge() != 0 {
		t.Error("a batch that has ended has an age")
	}
	w.begin([]*entry{})
	w.giveUp(time.Now().Add(time.Hour))
	w.end(nil)
	for _, patience := range []time.Duration{0, time.Hour} { // of the first nothing is in time
		slow("before a try", true)
		if !w.mayTry() || w.mayTry() {
			t.Error("the disk is not tried once")
		}
		w.try(patience)
	}
	slow("a try that was in time", false)
	go write()
	natstest.Eventually(t, "a call waits", func() bool { return len(w.waiting) == 1 })
	w.giveUp(time.Now().Add(time.Hour))
	if len(answers) != 0 {
		t.Error("a call was given up though no batch hangs")
	}
	(<-w.waiting).done <- writeResult{}
	<-answers
}

// A call that waits when the engine stops is answered, and so is one that comes
// later.
func TestNobodyWaitsForAWriterThatHasStopped(t *testing.T) {
	failed := make(chan struct{})
	close(failed) // the loop may take the call once more, and refuses it then
	w := &batchWriter{host: &Host{health: health{failed: failed}}, waiting: make(chan *entry, 8), ended: make(chan struct{}), observe: func(int, time.Duration) {}}
	answers := make(chan error, 1)
	write := func() {
		_, err := w.Write(t.Context(), "subject", nil, []byte("data"))
		answers <- err
	}
	go write()
	natstest.Eventually(t, "a call waits", func() bool { return len(w.waiting) == 1 })
	stopping, stop := context.WithCancel(t.Context())
	stop()
	w.run(stopping)
	wantAnswer(t, answers, "the call that waited")
	go write()
	wantAnswer(t, answers, "a call behind the end")
}

// wantAnswer wants a write to be refused, and not to hang.
func wantAnswer(t *testing.T, answers <-chan error, what string) {
	t.Helper()
	select {
	case err := <-answers:
		wantKind(t, err, sluice.Unavailable)
	case <-time.After(time.Minute):
		t.Fatalf("%s is not answered", what)
	}
}

func wantKind(t *testing.T, err error, want sluice.Kind) {
	t.Helper()
	if err == nil || sluice.AsError(err).Kind != want {
		t.Fatalf("got error %v, want one of kind %s", err, want)
	}
}

// A message that can never be stored joins no batch, and is no sign of a failing disk.
func TestAMessageThatIsTooLargeIsRefusedAlone(t *testing.T) {
	batch, cluster := &batchWriter{waiting: make(chan *entry, 1)}, &clusterWriter{waiting: make(chan *publication, 1)}
	for _, w := range []Writer{batch, cluster} {
		_, err := w.Write(t.Context(), "subject", nil, make([]byte, MaxData+1))
		wantKind(t, err, sluice.TooLarge)
	}
	if len(batch.waiting)+len(cluster.waiting) > 0 {
		t.Error("it waits for a batch")
	}
	long := CutProblem(sluice.Problem{Detail: strings.Repeat("\u00fc", maxSaid), Position: sluice.Position{Snippet: "short"}, Errors: make([]string, maxSaid)})
	if len(long.Detail) > maxSaid+20 || !utf8.ValidString(long.Detail) || !strings.HasSuffix(long.Detail, "… (cut)") || long.Snippet != "short" || long.Errors != nil {
		t.Errorf("cut: %.50s… of %d bytes, %q, %v", long.Detail, len(long.Detail), long.Snippet, long.Errors)
	}
}
