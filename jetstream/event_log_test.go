package jetstream

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// tracesOf returns the trace ids of events.
func tracesOf(t *testing.T, events []json.RawMessage) (ids []string) {
	t.Helper()
	for _, text := range events {
		var e sluice.Event
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.TraceID)
	}
	return ids
}

// storeEvent puts an event with a key and a trace id in its place.
func storeEvent(t *testing.T, e *Engine, key, traceID string) {
	t.Helper()
	stored := event(traceID)
	stored.EventKey = key
	if _, err := e.Events.Accept(t.Context(), stored, 0); err != nil {
		t.Error(err)
	}
}

func readAfter(t *testing.T, e *Engine, q sluice.EventQuery) (ids []string, next string) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	events, next, err := e.Stored.After(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return tracesOf(t, events), next
}

func TestEventsAreReadBehindACursor(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("log")
		storeEvent(t, e, key, key+":before")
		ids, start := readAfter(t, e, sluice.EventQuery{Pattern: key})
		if ids != nil {
			t.Errorf("without a cursor there are %q, want none", ids)
		}
		var want []string
		for i := range 7 {
			want = append(want, fmt.Sprintf("%s:%d", key, i)) // the engine stores an id once
			storeEvent(t, e, key, want[i])
			storeEvent(t, e, key+".other", want[i]+"other")
		}
		first, next := readAfter(t, e, sluice.EventQuery{Pattern: key, After: start, Limit: 3})
		rest, end := readAfter(t, e, sluice.EventQuery{Pattern: key, After: next})
		if got := slices.Concat(first, rest); len(first) != 3 || !slices.Equal(got, want) {
			t.Errorf("read %q and %q, want %q", first, rest, want)
		}
		if again, _ := readAfter(t, e, sluice.EventQuery{Pattern: key, After: next}); !slices.Equal(again, rest) {
			t.Errorf("the same cursor gives %q, then %q", rest, again)
		}
		if more, same := readAfter(t, e, sluice.EventQuery{Pattern: key, After: end}); more != nil || same != end {
			t.Errorf("behind the end there are %q, and the cursor %s becomes %s", more, end, same)
		}
		for pattern, count := range map[string]int{key + ".#": 14, key + ".*": 7, key + ".other": 7} {
			if ids, _ := readAfter(t, e, sluice.EventQuery{Pattern: pattern, After: start}); len(ids) != count {
				t.Errorf("%s fits %d events, want %d", pattern, len(ids), count)
			}
		}
		e.Close()
		e = open()
		if ids, _ := readAfter(t, e, sluice.EventQuery{Pattern: key, After: next}); !slices.Equal(ids, rest) {
			t.Errorf("after a restart the cursor gives %q, want %q", ids, rest)
		}
	})
}

// TestReadersAreWoken: a waiting reader gets each event once and in order, whenever it
// arrives.
func TestReadersAreWoken(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("woken")
		_, cursor := readAfter(t, e, sluice.EventQuery{Pattern: key})
		const count = 60
		var writing sync.WaitGroup
		writing.Go(func() {
			for i := range count {
				storeEvent(t, e, key, fmt.Sprintf("%s:%d", key, i))
			}
		})
		defer writing.Wait()
		for got := 0; got < count; {
			var ids []string
			ids, cursor = readAfter(t, e, sluice.EventQuery{Pattern: key, After: cursor, Limit: 2, Wait: time.Minute})
			for _, id := range ids {
				if want := fmt.Sprintf("%s:%d", key, got); id != want {
					t.Fatalf("got %s, want %s", id, want)
				}
				got++
			}
		}
	})
}

// TestOnlyDurableEventsAreRead: an event that may still be lost must not move a cursor,
// because another one would get its sequence.
func TestOnlyDurableEventsAreRead(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	key := natstest.UniqueKey("durable")
	_, start := readAfter(t, e, sluice.EventQuery{Pattern: key})
	storeEvent(t, e, key, "aaaaaa:1")
	writer := e.Stored.stream.Writer
	e.Stored.stream.Writer = &lateWriter{Writer: writer, late: math.MaxInt} // as if the sync were under way
	if ids, next := readAfter(t, e, sluice.EventQuery{Pattern: key, After: start}); ids != nil || next != start {
		t.Errorf("read %q before it was durable", ids)
	}
	e.Stored.stream.Writer = writer
	if ids, _ := readAfter(t, e, sluice.EventQuery{Pattern: key, After: start}); len(ids) != 1 {
		t.Errorf("read %q, want the one event", ids)
	}
}

// TestAnArrivalBeforeTheReaderIsNotMissed: an event that arrives before a reader listens, and
// becomes durable after its first look, does not have to wait for the next event.
func TestAnArrivalBeforeTheReaderIsNotMissed(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	key := natstest.UniqueKey("early")
	_, start := readAfter(t, e, sluice.EventQuery{Pattern: key})
	storeEvent(t, e, key, "aaaaaa:1")
	e.Stored.stream.Writer = &lateWriter{Writer: e.Stored.stream.Writer, late: 2} // for the cursor, and for the first look
	if ids, _ := readAfter(t, e, sluice.EventQuery{Pattern: key, After: start, Wait: 10 * time.Second}); len(ids) != 1 {
		t.Errorf("read %q, want the one event", ids)
	}
}

// A lateWriter reports a few times that its last message is not durable yet.
type lateWriter struct {
	stream.Writer

	late int
}

func (w *lateWriter) Durable() uint64 {
	if w.late > 0 {
		w.late--
		return w.Writer.Durable() - 1
	}
	return w.Writer.Durable()
}

func TestCursorsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	storeEvent(t, e, "webhook.test", "aaaaaa:1")
	_, cursor := readAfter(t, e, sluice.EventQuery{Pattern: "webhook.test"})
	created := uint64(e.Stored.created.UnixMicro())
	for _, after := range []string{
		"1", "x-", "-1", "!-1", "1-1", cursor + "-", "0" + cursor, cursor + "\x00",
		e.Stored.ids.Cursor(created, 1<<40), // further than there are events
		e.Stored.ids.Cursor(created+1, 1),   // of another store
		e.Stored.ids.Cursor(created),        // of another list
	} {
		_, _, err := e.Stored.After(t.Context(), sluice.EventQuery{Pattern: "webhook.test", After: after, Limit: 1})
		if !sluice.CodeCursorGone.Is(err) {
			t.Errorf("%q: got %v", after, err)
		}
	}
}
