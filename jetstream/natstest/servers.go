// Package natstest starts the NATS servers that tests of the engine run on, and
// lists the set-ups an operator can choose. Only tests import it.
package natstest

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sluice"
	"sluice/durable"
	"sluice/seal"
	"sluice/stretch"
	"sluice/wait"
)

// A Setup is the engine that a test uses. All tests share the external servers, so
// each test uses event keys of its own.
type Setup struct {
	Dir      string // of the embedded engine; empty if it is external
	URL      string // of the external engine
	Replicas int
	Shared   bool // several nodes may use it at the same time
}

// OnEverySetup runs a test on every set-up an operator can choose, at the same time. With
// -short a cluster is left out.
func OnEverySetup(t *testing.T, test func(t *testing.T, s Setup)) {
	for name, setup := range map[string]func(t *testing.T) Setup{
		"embedded": func(t *testing.T) Setup { return Setup{Dir: t.TempDir()} },
		"external": func(*testing.T) Setup { return Setup{URL: single(), Replicas: 1, Shared: true} },
		"cluster":  func(*testing.T) Setup { return Setup{URL: cluster(), Replicas: 3, Shared: true} },
	} {
		if name == "cluster" && testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t))
		})
	}
}

// patience bounds every wait for a server or a condition. It is far longer than any
// of them takes: reaching it is a failure.
const patience = 3 * time.Minute

var (
	single  = sync.OnceValue(func() string { return Start(Options()).ClientURL() })
	cluster = sync.OnceValue(StartCluster)

	mu    sync.Mutex
	stops []func() // of the servers that were started, the last one first
)

// atEnd calls a function when all tests are done.
func atEnd(stop func()) {
	mu.Lock()
	defer mu.Unlock()
	stops = slices.Insert(stops, 0, stop)
}

// InMemory puts the folders of tests into memory, if there is room and nobody said otherwise
// by TMPDIR: most tests wait for flushes of a disk. Whether data outlives a fault is the
// business of torture.
func InMemory() {
	const memory, enough = "/dev/shm", 4 << 30
	if free, err := durable.FreeSpace(memory); os.Getenv("TMPDIR") == "" && err == nil && free.Bytes > enough {
		_ = os.Setenv("TMPDIR", memory)
	}
}

// Main runs the tests of a package, and then stops the servers that they have started.
// Such tests mostly wait for disks and for each other, so more of them run at the same
// time than there are cores, and time-outs are stretched.
func Main(m *testing.M) {
	InMemory()
	stretch.By(5)
	debug.SetGCPercent(400)
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, stop := range stops {
		stop()
	}
	os.Exit(code)
}

// Box returns the box of the engines of tests.
func Box(bool) (*seal.Box, error) { return seal.New(make([]byte, seal.KeySize)) }

// UniqueKey returns an event key that no other test has.
func UniqueKey(name string) string {
	return "webhook." + strings.ToLower(rand.Text()) + "." + name
}

// Options returns the options of a server that can be an external engine.
func Options() *server.Options {
	dir, err := os.MkdirTemp("", "sluice-external-")
	if err != nil {
		panic(err)
	}
	atEnd(func() { _ = os.RemoveAll(dir) })
	return &server.Options{
		Host:       "127.0.0.1",
		Port:       server.RANDOM_PORT,
		JetStream:  true,
		StoreDir:   dir,
		MaxPayload: 8 << 20,
		NoSigs:     true,
		NoLog:      true,
	}
}

// Start runs a NATS server that listens on loopback.
func Start(opts *server.Options) *server.Server {
	s, err := server.NewServer(opts)
	if err != nil {
		panic(err)
	}
	s.Start()
	atEnd(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		panic("the external server did not start")
	}
	return s
}

// StartCluster runs a JetStream cluster of three and returns its URLs.
func StartCluster() string {
	var urls []string
	for _, s := range StartServers() {
		urls = append(urls, s.ClientURL())
	}
	return strings.Join(urls, ",")
}

// StartServers runs a JetStream cluster of three and returns its servers.
func StartServers() []*server.Server {
	const tries = 5
	var err error
	for range tries {
		var started []*server.Server
		if started, err = startCluster(); err == nil {
			return started
		}
	}
	panic(err)
}

const clusterSize = 3

// leadsAll reports whether a server leads its cluster and has heard of all of it.
func leadsAll(s *server.Server) bool { return len(s.JetStreamClusterPeers()) == clusterSize }

// startCluster tries to run a cluster. Its servers must know each other's ports before
// they listen on them: it fails if another program takes one meanwhile.
func startCluster() (started []*server.Server, err error) {
	var routes []*url.URL
	ports := make([]net.Listener, clusterSize)
	for i := range ports {
		if ports[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
		defer func() { _ = ports[i].Close() }() // closed by then, unless a step fails
		routes = append(routes, &url.URL{Scheme: "nats", Host: ports[i].Addr().String()})
	}
	name := "test-" + rand.Text() // a server of another cluster may have taken a port
	var starting sync.WaitGroup
	stop := func() {
		for _, s := range started {
			s.Shutdown()
			s.WaitForShutdown()
		}
		starting.Wait()
	}
	for i, port := range ports {
		opts := Options()
		opts.ServerName = fmt.Sprint("n", i)
		opts.Cluster = server.ClusterOpts{Name: name, Host: "127.0.0.1", Port: port.Addr().(*net.TCPAddr).Port}
		opts.Routes = routes
		s, err := server.NewServer(opts)
		if err != nil {
			stop()
			return nil, err
		}
		failed := make(failure, 1)
		s.SetLogger(failed, false, false)
		_ = port.Close() // as late as can be
		started = append(started, s)
		starting.Go(s.Start)
		if err := ready(s, failed); err != nil {
			stop()
			return nil, err
		}
	}
	starting.Wait()
	// Without a leader that has heard of all the others it does not reply, or can't
	// place a stream, and callers don't wait long.
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !slices.ContainsFunc(started, leadsAll); <-tick.C {
		if time.Now().After(end) {
			stop()
			return nil, errors.New("the cluster has no leader that knows all of it")
		}
	}
	atEnd(stop)
	return started, nil
}

// ready waits until a server listens, or says that it can't.
func ready(s *server.Server, failed failure) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if s.ReadyForConnections(100 * time.Millisecond) {
			return nil
		}
		select {
		case err := <-failed:
			return err
		default:
		}
	}
	return errors.New("a server of the cluster did not start")
}

// A failure is the log of a server. It keeps the first fatal error.
type failure chan error

// Fatalf implements server.Logger.
func (f failure) Fatalf(format string, args ...any) {
	select {
	case f <- fmt.Errorf(format, args...):
	default:
	}
}

// Noticef implements server.Logger.
func (failure) Noticef(string, ...any) {}

// Warnf implements server.Logger.
func (failure) Warnf(string, ...any) {}

// Errorf implements server.Logger.
func (failure) Errorf(string, ...any) {}

// Debugf implements server.Logger.
func (failure) Debugf(string, ...any) {}

// Tracef implements server.Logger.
func (failure) Tracef(string, ...any) {}

// Patiently tries again, as a caller does who is told to.
func Patiently[T any](ctx context.Context, do func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) { // leaves room for hundreds of callers
		result, err := do()
		if err == nil || sluice.AsError(err).Kind != sluice.Unavailable {
			return result, err
		}
		if wait.For(ctx, pause) != nil {
			return result, err
		}
	}
}

// Eventually waits for a condition that nothing signals.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
