package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sluice/config"
	"sluice/jetstream"
	"sluice/serve"
)

// adminPassword protects nothing: the servers live for minutes, on loopback.
const adminPassword = "benchmark"

// readyTimeout bounds how long a server may take to become ready.
const readyTimeout = 2 * time.Minute

// What is special about a server, as an argument of the role: who makes writes
// durable, or that nobody asks who calls. The first is how it is shipped.
const (
	groupCommit = "group-commit"
	engineSync  = "engine-sync"
	noAuth      = "no-auth"
)

// A server is a child that answers HTTP on an address.
type server struct {
	*process
	address string
	ready   time.Duration // from the start of the process to the first 200 at /readyz
}

// serveRole is the server under test: the shipped one but for its mode, a
// minimum of free disk space that lets it run on small machines, and further
// settings that a part needs. Arguments: address, data folder, mode, and any
// number of name=value.
func serveRole(args []string) error {
	go endWithParent()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	settings := map[string]string{
		"listen":        args[0],
		"data":          args[1],
		"min-free-disk": "64MiB",
	}
	for _, setting := range args[3:] {
		name, value, _ := strings.Cut(setting, "=")
		settings[name] = value
	}
	cfg, err := config.Load("", nil, settings)
	if err != nil {
		return err
	}
	log, flush := serve.NewLog(os.Stderr, "info", "auto")
	defer flush()
	opts := serve.Options{AdminPassword: adminPassword, NoAuth: args[2] == noAuth, Log: log}
	if args[2] == engineSync {
		opts.Sync = jetstream.EngineSync
	}
	return serve.Run(ctx, cfg, opts, os.Stdout)
}

// startSluice starts a server on the data folder of that name, a new one or
// that of an earlier server, and waits until it is ready.
func (b *bench) startSluice(ctx context.Context, name, mode string, settings ...string) (*server, error) {
	return b.startServer(ctx, name, "role-serve", append([]string{filepath.Join(b.part, name), mode}, settings...)...)
}

// startServer starts a role that listens on the address it gets before args.
func (b *bench) startServer(ctx context.Context, name, role string, args ...string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	p, err := b.start(ctx, name, role, append([]string{address}, args...)...)
	if err != nil {
		return nil, err
	}
	s := &server{process: p, address: address}
	if err := s.awaitReady(ctx); err != nil {
		p.kill()
		return nil, p.failed(fmt.Errorf("server %s: %w", name, err))
	}
	s.ready = time.Since(began)
	return s, nil
}

// freeAddress gives a loopback address that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitReady returns once the server answers 200 at /readyz.
func (s *server) awaitReady(ctx context.Context) error {
	const between = time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for !s.isReady(ctx) {
		select {
		case <-s.ended:
			return errors.New("it ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", ctx.Err())
		case <-time.After(between):
		}
	}
	return nil
}

func (s *server) isReady(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/readyz", nil)
	if err != nil {
		return false
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }() // nothing depends on it
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}
