// Package deploy_test runs what this folder has for operators: builds, the image,
// the unit, the compose files, the manifests, and the proxies in front of a real
// server. What needs other programs runs with TEST_DEPLOY=1, and then fails if
// one is missing.
package deploy_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/config"
	"sluice/serve"
)

const (
	adminPassword = "correct horse battery staple"

	// patience bounds every wait of these tests. It is far longer than what is
	// waited for ever takes: reaching it is a failure.
	patience = time.Minute
)

// needs skips a test that takes long or needs other programs, unless all are to
// run.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getenv("TEST_DEPLOY") == "" {
		t.Skipf("TEST_DEPLOY=1 runs this; it needs: %s", strings.Join(append(programs, "go"), ", "))
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is missing; install it, or run the tests without TEST_DEPLOY", program)
		}
	}
}

// run runs a program to its end, and gives what it prints.
func run(t *testing.T, environ []string, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
	return string(output)
}

// background runs a program until the test ends.
func background(t *testing.T, environ []string, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), environ...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // how a program ends that was told to does not matter
	})
}

// eventually tries again and again until it is satisfied.
func eventually(t *testing.T, what string, try func() bool) {
	t.Helper()
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	deadline := time.Now().Add(patience)
	for !try() {
		if (<-pace.C).After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// freePort returns an address that nobody listens on. Its port is below those that
// systems give to whoever asks for any: so nobody is likely to get it before the
// program that is meant to.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(20_000)))
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("there is no free port")
	return ""
}

// listening waits until somebody listens.
func listening(t *testing.T, address string) {
	t.Helper()
	eventually(t, "a program that listens on "+address, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// startServer runs a server until the test ends. Settings are written
// "name=value".
func startServer(t *testing.T, settings ...string) *serve.Server {
	t.Helper()
	flags := map[string]string{"listen": "127.0.0.1:0", "data": t.TempDir(), "min-free-disk": "1MiB"}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		flags[name] = value
	}
	cfg, err := config.Load("", nil, flags)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.Start(t.Context(), cfg, serve.Options{AdminPassword: adminPassword, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	if _, _, err := s.CreateAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// adapted writes a copy of a file in which texts are replaced, and gives its
// path. Each must be there: a sample that changed needs a test that does.
func adapted(t *testing.T, file string, replaced map[string]string) string {
	t.Helper()
	text := read(t, file)
	for old, with := range replaced {
		if !strings.Contains(text, old) {
			t.Fatalf("%s does not contain %q", file, old)
		}
		text = strings.ReplaceAll(text, old, with)
	}
	return write(t, filepath.Base(file), text)
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAlerts: Prometheus takes the rules, and they fire when they should.
func TestAlerts(t *testing.T) {
	needs(t, "promtool")
	run(t, nil, "../docs/monitoring", "promtool", "check", "rules", "alerts.yaml")
	run(t, nil, "../docs/monitoring", "promtool", "check", "config", "prometheus.yaml")
	run(t, nil, "../docs/monitoring", "promtool", "test", "rules", "alerts_test.yaml")
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	content, err := io.ReadAll(r)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return string(content)
}
