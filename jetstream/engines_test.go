package jetstream

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// The same tests run on every set-up an operator can choose. Each gives a
// function that opens an engine; opened twice, two nodes share one store where
// the set-up allows for it. External servers are shared by all tests, so each
// test uses event keys of its own.
var setups = []struct {
	name   string
	shared bool // several nodes at the same time
	make   func(t *testing.T) (open func() *Engine)
}{
	{"embedded", false, func(t *testing.T) func() *Engine {
		dir := t.TempDir()
		return func() *Engine { return openEngine(t, Options{Dir: dir}) }
	}},
	{"external", true, func(t *testing.T) func() *Engine {
		return func() *Engine { return openEngine(t, Options{URL: single(), Replicas: 1}) }
	}},
	{"cluster", true, func(t *testing.T) func() *Engine {
		return func() *Engine { return openEngine(t, Options{URL: cluster(), Replicas: 3}) }
	}},
}

// onEverySetup runs a test on every set-up.
func onEverySetup(t *testing.T, test func(t *testing.T, open func() *Engine, shared bool)) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) { test(t, s.make(t), s.shared) })
	}
}

var (
	single  = sync.OnceValue(func() string { return startExternal(externalOptions()).ClientURL() })
	cluster = sync.OnceValue(startCluster)
	stops   []func() // of the servers that were started
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range stops {
		stop()
	}
	os.Exit(code)
}

// uniqueKey gives an event key that no other test has.
func uniqueKey(name string) string {
	return "webhook." + strings.ToLower(rand.Text()) + "." + name
}

// openEngine opens an engine, waits until it is set up, and closes it with the
// test.
func openEngine(t *testing.T, opts Options) *Engine {
	t.Helper()
	e := openUnready(t, opts)
	select {
	case <-e.SetUp():
		return e
	case <-time.After(time.Minute):
		t.Fatalf("the engine was not set up in time: %v", e.Ready())
		return nil
	}
}

// openUnready opens an engine that need not be set up yet.
func openUnready(t *testing.T, opts Options) *Engine {
	t.Helper()
	if opts.EventMaxAge == 0 {
		opts.EventMaxAge = time.Hour
	}
	if opts.ResultTTL == 0 {
		opts.ResultTTL = time.Hour
	}
	if opts.EventMaxBytes == 0 {
		opts.EventMaxBytes = 256 << 20
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	e, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// externalOptions are those of a server that can serve as an external engine.
func externalOptions() *server.Options {
	dir, err := os.MkdirTemp("", "sluice-external-")
	if err != nil {
		panic(err)
	}
	stops = append(stops, func() { _ = os.RemoveAll(dir) })
	return &server.Options{
		Host:       "127.0.0.1",
		Port:       server.RANDOM_PORT,
		JetStream:  true,
		StoreDir:   dir,
		MaxPayload: maxMessage,
		NoSigs:     true,
		NoLog:      true,
	}
}

// startExternal runs a NATS server that listens on loopback.
func startExternal(opts *server.Options) *server.Server {
	s, err := server.NewServer(opts)
	if err != nil {
		panic(err)
	}
	s.Start()
	stops = append([]func(){func() {
		s.Shutdown()
		s.WaitForShutdown()
	}}, stops...)
	if !s.ReadyForConnections(10 * time.Second) {
		panic("the external server did not start")
	}
	return s
}

// startCluster runs a JetStream cluster of three and gives its URLs.
func startCluster() string {
	const size = 3
	var routes []*url.URL
	ports := make([]int, size)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
		_ = l.Close()
	}
	var urls []string
	var servers sync.WaitGroup
	for i, port := range ports {
		opts := externalOptions()
		opts.ServerName = fmt.Sprint("n", i)
		opts.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port}
		opts.Routes = routes
		s, err := server.NewServer(opts)
		if err != nil {
			panic(err)
		}
		stops = append([]func(){func() {
			s.Shutdown()
			s.WaitForShutdown()
		}}, stops...)
		servers.Go(s.Start)
		if !s.ReadyForConnections(10 * time.Second) {
			panic("a server of the cluster did not start")
		}
		urls = append(urls, s.ClientURL())
	}
	servers.Wait()
	return strings.Join(urls, ",")
}

// eventually waits for a condition that nothing signals.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		}
	}
}
