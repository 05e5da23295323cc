package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// take makes a backup of an engine.
func take(t *testing.T, e *Engine) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, backup.Header{})
	if err == nil {
		err = e.Backup(t.Context(), w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// restored makes an engine from a backup, and opens it.
func restored(t *testing.T, file []byte, s natstest.Setup) *Engine {
	t.Helper()
	if err := restore(t, file, s); err != nil {
		t.Fatal(err)
	}
	return openEngine(t, Options{Dir: s.Dir, URL: s.URL, Replicas: s.Replicas})
}

func restore(t *testing.T, file []byte, s natstest.Setup) error {
	t.Helper()
	from, err := backup.NewReader(bytes.NewReader(file))
	if err != nil {
		return err
	}
	return Restore(t.Context(), Options{Dir: s.Dir, URL: s.URL, Replicas: s.Replicas, Box: natstest.Box, Log: slog.New(slog.DiscardHandler)}, from, nil, false)
}

// TestBackupsGoBetweenEngines: from an embedded engine to an external one, a single server or
// a cluster, and back. Finished events are not run again, the others are, and ids of calls
// and deliveries keep their meaning.
func TestBackupsGoBetweenEngines(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() natstest.Setup{
		"single": func() natstest.Setup {
			return natstest.Setup{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1}
		},
		"cluster": func() natstest.Setup { return natstest.Setup{URL: natstest.StartCluster(), Replicas: 3} },
	} {
		t.Run(name, func(t *testing.T) {
			l := &legacy{key: natstest.UniqueKey("webhook.moved"), answers: make(map[string]sluice.Result)}
			first := openEngine(t, Options{Dir: t.TempDir()})
			storePipeline(t, first, "moved", bound(t, first, l.key))
			l.work(t, first, "first")
			external := restored(t, take(t, first), start())
			l.check(t, external)
			l.work(t, external, "external")
			back := restored(t, take(t, external), natstest.Setup{Dir: t.TempDir()})
			l.check(t, back)
			l.work(t, back, "back")
			l.check(t, restored(t, take(t, back), natstest.Setup{Dir: t.TempDir()}))
		})
	}
}

// bound returns a pipeline that listens to a key.
func bound(t *testing.T, e *Engine, key string) *sluice.Pipeline {
	t.Helper()
	b, err := e.Queue.Bind(t.Context(), sluice.EventPrefix+key, 4)
	if err != nil {
		t.Fatal(err)
	}
	return &sluice.Pipeline{Name: "moved", Binding: b}
}

// A legacy is what engines leave to the next.
type legacy struct {
	key        string
	answers    map[string]sluice.Result // of calls, by delivery id
	unfinished []string                 // trace ids of events that the pipeline has not finished
}

// work makes calls. The pipeline finishes only some of them.
func (l *legacy) work(t *testing.T, e *Engine, round string) {
	t.Helper()
	const calls, each = 30, 3
	p, err := e.Pipelines.Get(t.Context(), "moved")
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	hold := make(chan struct{})
	defer close(hold)
	var mu sync.Mutex
	held := make(map[string]bool)
	stop := consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		if id, _ := d.Message["deliveryId"].(string); len(id) > 0 && id[len(id)-1] == 'h' {
			mu.Lock()
			held[d.TraceID] = true
			mu.Unlock()
			return sluice.Outcome{}, errors.New("not now")
		}
		return ok(p.Name, fmt.Sprintf("%q", d.TraceID)), nil
	})
	defer stop()
	for i := range calls {
		id := fmt.Sprint(round, "-", i)
		if i%each == 0 {
			id += "h"
		}
		event := delivered(l.key, id, "body", time.Hour)
		result, err := acceptPatiently(t.Context(), e, event)
		if err != nil {
			t.Fatal(err)
		}
		if i%each == 0 {
			l.unfinished = append(l.unfinished, result.TraceID)
		} else {
			natstest.Eventually(t, "a result", func() bool {
				result, err = e.Results.Result(t.Context(), result.CorrelationID, time.Second)
				return err == nil && result.Status == sluice.StatusOK
			})
		}
		l.answers[id] = result
	}
	natstest.Eventually(t, "all of them are tried", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(held) >= calls/each
	})
}

// check looks for what earlier engines have left.
func (l *legacy) check(t *testing.T, e *Engine) {
	t.Helper()
	for id, answered := range l.answers {
		again, err := acceptPatiently(t.Context(), e, delivered(l.key, id, "body", time.Hour))
		if err != nil || !again.Duplicate || again.CorrelationID != answered.CorrelationID || again.TraceID != answered.TraceID {
			t.Fatalf("the delivery %s is answered with %+v, %v; want %+v", id, again, err, answered)
		}
		if answered.Status == sluice.StatusOK && string(again.Value) != string(answered.Value) {
			t.Errorf("the result of %s is %s, want %s", id, again.Value, answered.Value)
		}
	}
	p, err := e.Pipelines.Get(t.Context(), "moved")
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	runs, newest := make(chan string, 10_000), keyed(l.key)
	stop := consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		runs <- d.TraceID
		if d.TraceID == newest.TraceID {
			return ok(p.Name, "1"), nil
		}
		return ok(p.Name, fmt.Sprintf("%q", d.TraceID)), nil
	})
	defer stop()
	if _, err := e.Events.Accept(t.Context(), newest, 0); err != nil {
		t.Fatal(err)
	}
	var ran []string
	for len(ran) < len(l.unfinished)+1 {
		select {
		case id := <-runs:
			ran = append(ran, id)
		case <-time.After(patience):
			t.Fatalf("%d runs, want %d", len(ran), len(l.unfinished)+1)
		}
	}
	want := append(slices.Clone(l.unfinished), newest.TraceID)
	slices.Sort(want)
	slices.Sort(ran)
	if !slices.Equal(ran, want) {
		t.Errorf("ran\n%v\nwant\n%v", ran, want)
	}
	l.unfinished = nil
}

// TestEveryStreamIsInABackup: otherwise a stream would be lost.
func TestEveryStreamIsInABackup(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	var taken []string
	r, err := backup.NewReader(bytes.NewReader(take(t, e)))
	for err == nil {
		var s backup.Stream
		s, err = r.Next()
		taken = append(taken, s.Name)
	}
	names := e.host.JS.StreamNames(t.Context())
	for name := range names.Name() {
		if !slices.Contains(taken, name) {
			t.Errorf("the stream %s is not in the backup: give it a place in backupOrder", name)
		}
	}
	if names.Err() != nil {
		t.Fatal(names.Err())
	}
}

// TestARestoreNeedsAnEmptyEngine, and leaves it empty if it fails.
func TestARestoreNeedsAnEmptyEngine(t *testing.T) {
	t.Parallel()
	file := take(t, openEngine(t, Options{Dir: t.TempDir()}))
	s := natstest.Setup{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1}
	file[len(file)-100] ^= 1
	if err := restore(t, file, s); err == nil {
		t.Fatal("a damaged backup was restored")
	}
	file[len(file)-100] ^= 1
	if err := restore(t, file, s); err != nil {
		t.Fatalf("the engine should be empty, but: %v", err)
	}
	if err := restore(t, file, s); sluice.AsError(err).Code != "engine-not-empty" {
		t.Errorf("restored twice: %v", err)
	}
}

// TestOneBackupAtATime: the second is told to wait.
func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	slow := &reentrant{write: func() error {
		w, err := backup.NewWriter(new(bytes.Buffer), backup.Header{})
		if err == nil {
			err = e.Backup(ctx, w)
		}
		return err
	}}
	w, err := backup.NewWriter(slow, backup.Header{})
	if err != nil {
		t.Fatal(err)
	}
	slow.armed = true
	if err := e.Backup(ctx, w); err != nil {
		t.Fatal(err)
	}
	if sluice.AsError(slow.got).Code != "backup-running" {
		t.Errorf("the second backup: %v", slow.got)
	}
}

// reentrant does something at its first write once it is armed.
type reentrant struct {
	armed bool
	write func() error
	got   error
}

func (r *reentrant) Write(p []byte) (int, error) {
	if r.armed {
		r.armed = false
		r.got = r.write()
	}
	return len(p), nil
}

// tornBackup does something once the events are in a backup, and what waits for them is not.
type tornBackup struct {
	bytes.Buffer

	then func()
}

func (b *tornBackup) Write(frame []byte) (int, error) {
	if b.then != nil && bytes.Contains(frame, []byte(`"name":"`+stream.Events+`"`)) {
		b.then()
		b.then = nil
	}
	return b.Buffer.Write(frame)
}

// TestAnEventThatComesDuringABackup: it is not in the backup, and so nothing waits of it once that is restored.
// Another one has its sequence then, and runs.
func TestAnEventThatComesDuringABackup(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	key := natstest.UniqueKey("during")
	p := bind(t, e, "during", sluice.EventPrefix+key, 16)
	stop := consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
		again := ok(p.Name, "1")
		again.Status, again.Next = sluice.StatusProcessing, time.Now().Add(time.Hour)
		return again, nil
	})
	file := &tornBackup{then: func() {
		send(t, e, key, 0)
		natstest.Eventually(t, "it waits", func() bool { return waitsFor(t, e, p.Binding) })
	}}
	w, err := backup.NewWriter(file, backup.Header{})
	check(t, err)
	check(t, e.Backup(t.Context(), w))
	stop()
	s := natstest.Setup{Dir: t.TempDir()}
	check(t, restore(t, file.Bytes(), s))
	copied := openEngine(t, Options{Dir: s.Dir})
	if !waitsFor(t, copied, p.Binding) {
		t.Fatal("what waits is older than the events")
	}
	consume(t, copied, p, answering(p, "2"))
	if got := send(t, copied, key, patience); string(got.Value) != "2" {
		t.Errorf("the next event gives %s %s", got.Status, got.Value)
	}
	natstest.Eventually(t, "nothing waits", func() bool { return !waitsFor(t, copied, p.Binding) })
}
