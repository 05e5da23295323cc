package step_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"sluice/step"
)

// counted is a server that counts the connections made to it.
func counted(tb testing.TB, answer http.HandlerFunc) (url string, connections *atomic.Int64) {
	tb.Helper()
	connections = new(atomic.Int64)
	server := httptest.NewUnstartedServer(answer)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	tb.Cleanup(server.Close)
	return server.URL, connections
}

// TestConnectionsAreUsedAgain: calls that come in bursts make few more connections
// than were ever in use at a time, whichever of the two commands makes them. One is
// free a moment after its call has ended.
func TestConnectionsAreUsedAgain(t *testing.T) {
	const burst, bursts = 40, 10
	at, connections := counted(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	set := newSet(step.Options{HTTP: local})
	ctx := event(t.Context(), object{"payloadEncoding": "none"})
	for i := range bursts {
		var calls sync.WaitGroup
		for range burst {
			calls.Go(func() {
				command, given := "http.request", args{"url": at}
				if i%2 == 1 {
					command = "http.forward"
				}
				if _, err := call(ctx(), set, command, given); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	}
	if made := connections.Load(); made > 2*burst {
		t.Errorf("%d calls, %d at a time, made %d connections", burst*bursts, burst, made)
	}
}

// BenchmarkConnections: how many new connections a burst of 32 calls costs.
func BenchmarkConnections(b *testing.B) {
	const burst = 32
	at, connections := counted(b, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	set := newSet(step.Options{HTTP: local})
	for b.Loop() {
		var calls sync.WaitGroup
		for range burst {
			calls.Go(func() {
				if _, err := call(b.Context(), set, "http.request", args{"url": at}); err != nil {
					b.Error(err)
				}
			})
		}
		calls.Wait()
	}
	b.ReportMetric(float64(connections.Load())/float64(b.N), "connections/op")
}
