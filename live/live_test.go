package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/live"
)

// entry is what happened under a number.
func entry(number string) sluice.TailEntry {
	return sluice.TailEntry{Position: number, Type: "call", Data: json.RawMessage(`{"number":` + number + `}`)}
}

// A script is a tail on which entries happen as they are sent, and which fails with an error that is sent.
type script chan any

// Follow implements sluice.Tail.
func (s script) Follow(ctx context.Context, _ sluice.TailQuery) (iter.Seq2[sluice.TailEntry, error], error) {
	return func(yield func(sluice.TailEntry, error) bool) {
		for {
			select {
			case next := <-s:
				if err, failed := next.(error); failed {
					yield(sluice.TailEntry{}, err)
					return
				}
				if !yield(next.(sluice.TailEntry), nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}, nil
}

var reader = sluice.User{Name: "vera", Permissions: []string{live.Permission}}

// serving returns streams of a tail, and the function that serves one of them to the reader.
func serving(tail sluice.Tail, pages bool, identify func(*http.Request) (sluice.User, error)) func(http.ResponseWriter, *http.Request) error {
	streams := live.New(live.Streams{Tail: tail, Stopping: make(chan struct{}), Identify: identify, Pages: pages})
	return func(w http.ResponseWriter, r *http.Request) error {
		return streams.Serve(w, r, reader, sluice.TailQuery{})
	}
}

func asReader(*http.Request) (sluice.User, error) { return reader, nil }

// TestEntriesArriveAsTheyHappen: a program reads each entry with its position, before the next one happens.
func TestEntriesArriveAsTheyHappen(t *testing.T) {
	t.Parallel()
	tail := make(script)
	serve := serving(tail, false, asReader)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = serve(w, r) }))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if media := response.Header.Get("Content-Type"); media != "text/event-stream" {
		t.Error(media)
	}
	lines := bufio.NewReader(response.Body)
	wants := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(lines, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v instead of %q", got, err, want)
		}
	}
	wants(": following\n\n")
	for _, number := range []string{"1", "2"} {
		tail <- entry(number)
		wants("id: " + number + "\nevent: call\ndata: {\"number\":" + number + "}\n\n")
	}
}

// TestProgramsHearWhyATailFails, and pages don't: they connect again.
func TestProgramsHearWhyATailFails(t *testing.T) {
	t.Parallel()
	for pages, want := range map[bool]string{false: "event: error\ndata: {", true: ": following\n\n"} {
		tail := make(script, 1)
		tail <- error(sluice.CodeNotFound.Errorf("It is gone."))
		answer := httptest.NewRecorder()
		err := serving(tail, pages, asReader)(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
		got := answer.Body.String()
		if err != nil || !strings.Contains(got, want) || strings.Contains(got, "It is gone.") == pages {
			t.Errorf("pages %v: %v\n%s", pages, err, got)
		}
	}
}

// TestAPageOfSomeoneWhoSignedOutGetsNothingMore, not even what happens before the next heartbeat.
func TestAPageOfSomeoneWhoSignedOutGetsNothingMore(t *testing.T) {
	t.Parallel()
	var out atomic.Bool
	tail := make(script, 1) // the stream may have ended before the third entry
	serve := serving(tail, true, func(*http.Request) (sluice.User, error) {
		if out.Load() {
			return sluice.User{}, errors.New("nobody is signed in")
		}
		return reader, nil
	})
	answer, ended := httptest.NewRecorder(), make(chan error)
	go func() { ended <- serve(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)) }()
	tail <- entry("1")
	tail <- entry("2") // so the first was handed on
	out.Store(true)
	tail <- entry("3")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := answer.Body.String(); strings.Contains(got, "id: 3") {
		t.Error(got)
	}
}

// A stuck reader takes nothing until it is let go.
type stuck struct {
	*httptest.ResponseRecorder

	free chan struct{}
}

// Write implements io.Writer.
func (s stuck) Write(content []byte) (int, error) {
	<-s.free
	return s.ResponseRecorder.Write(content)
}

// TestASlowReaderIsToldWhatWasDropped: entries that happen wait for a moment and are dropped then, past ones are not.
func TestASlowReaderIsToldWhatWasDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		tail, answer := make(script), stuck{httptest.NewRecorder(), make(chan struct{})}
		go func() {
			_ = serving(tail, false, asReader)(answer, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		}()
		const queued, late = 64, 10
		for range queued + late {
			tail <- entry("1")
		}
		time.Sleep(time.Second) // longer than the patience with a reader
		past := entry("2")
		past.Past = true
		tail <- past
		close(answer.free)
		synctest.Wait()
		got := answer.Body.String()
		if count := strings.Count(got, "id: 1\n"); count != queued || !strings.Contains(got, `{"count":10}`) || !strings.Contains(got, "id: 2\n") {
			t.Errorf("%d of %d:\n%s", count, queued, got)
		}
	})
}

// TestAUserHasSoManyTails: the next one is refused until one of them ends.
func TestAUserHasSoManyTails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		serve := serving(make(script), false, asReader)
		open := func() (cancel func(), ended chan error) {
			ctx, cancel := context.WithCancel(t.Context())
			ended = make(chan error, 1)
			go func() { ended <- serve(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil)) }()
			synctest.Wait()
			return cancel, ended
		}
		end, first := open()
		for range sluice.MaxTailsPerUser - 1 {
			cancel, _ := open()
			defer cancel()
		}
		_, refused := open()
		if err := <-refused; sluice.AsError(err).Code != string(sluice.CodeTooManyTails) {
			t.Error(err)
		}
		end()
		if err := <-first; err != nil {
			t.Error(err)
		}
		cancel, last := open()
		defer cancel()
		select {
		case err := <-last:
			t.Errorf("it ended: %v", err)
		default:
		}
	})
}
