package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets the test binary play the roles of the program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// seen is what calls looked like to the server they reached.
type seen struct {
	mu     sync.Mutex
	calls  int
	tokens map[string]bool
	sizes  map[int]bool
}

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/api/v3/command/webhook.receive" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.calls++
	s.tokens[r.URL.Query().Get("token")] = true
	s.sizes[len(content)] = true
	s.mu.Unlock()
	_, _ = io.WriteString(w, `{"status":"ok"}`) // the test counts calls
}

// generators returns a bench for each generator that this machine has.
func generators(t *testing.T) map[string]*bench {
	both := map[string]*bench{"go": {dir: t.TempDir(), part: t.TempDir()}}
	if wrk, err := exec.LookPath("wrk"); err == nil {
		both["wrk"] = &bench{dir: t.TempDir(), part: t.TempDir(), wrk: wrk}
	}
	return both
}

func TestGeneratorsCallEachWebhook(t *testing.T) {
	for name, b := range generators(t) {
		for _, tokens := range [][]string{{"a"}, {"a", "b", "c"}} {
			t.Run(fmt.Sprint(name, len(tokens)), func(t *testing.T) {
				server := &seen{tokens: map[string]bool{}, sizes: map[int]bool{}}
				o, err := b.call(t, server, tokens)
				if err != nil {
					t.Fatal(err)
				}
				if o.Requests == 0 || o.Requests > server.calls || o.P50 <= 0 || o.P99 < o.P50 || o.Max < o.P99 || o.Seconds <= 0 {
					t.Errorf("outcome %+v of %d calls", o, server.calls)
				}
				if len(server.tokens) != len(tokens) || !server.tokens["a"] {
					t.Errorf("called %v, want %v", server.tokens, tokens)
				}
				if len(server.sizes) != 1 || !server.sizes[bodySize] {
					t.Errorf("bodies of %v bytes, want %d", server.sizes, bodySize)
				}
			})
		}
	}
}

func TestGeneratorsReadWithCredentials(t *testing.T) {
	for name, b := range generators(t) {
		for _, authorization := range []string{"", "Bearer abc"} {
			for _, tokens := range [][]string{{"a"}, {"a", "b"}} {
				t.Run(fmt.Sprint(name, authorization, len(tokens)), func(t *testing.T) {
					reader := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						content, err := io.ReadAll(r.Body)
						if err != nil || len(content) > 0 || r.Method != http.MethodGet || !slices.Contains(tokens, r.FormValue("uuid")) ||
							r.URL.Path != "/api/v3/command/webhook.get" || r.Header.Get("Authorization") != authorization {
							w.WriteHeader(http.StatusBadRequest)
						}
					})
					if _, err := b.send(t, reader, tokens, load{path: getPath, authorization: authorization}); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

func TestRefusedCallsFailTheRun(t *testing.T) {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	for name, b := range generators(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := b.call(t, refuse, []string{"a"}); err == nil || !strings.Contains(err.Error(), "failed") {
				t.Errorf("got %v, want the failed calls", err)
			}
		})
	}
}

// call runs a short load of webhook calls against a handler.
func (b *bench) call(t *testing.T, h http.Handler, tokens []string) (measurement, error) {
	t.Helper()
	return b.send(t, h, tokens, load{size: bodySize})
}

// send runs a short load against a handler.
func (b *bench) send(t *testing.T, h http.Handler, tokens []string, l load) (measurement, error) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	to, err := newClient(server.URL, 1)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := b.newLoad(to, "test", tokens)
	if err != nil {
		t.Fatal(err)
	}
	l.base, l.tokens, l.connections = calls.base, calls.tokens, 4
	long := 100 * time.Millisecond
	if b.wrk != "" {
		long = time.Second // it counts in seconds
	}
	return b.run(context.Background(), l, long)
}
