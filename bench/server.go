package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"sluice/config"
	"sluice/jetstream"
	"sluice/serve"
)

// readyTimeout bounds how long a server may take to become ready.
const readyTimeout = 2 * time.Minute

// Specialities of a server, as an argument of the role: how writes become durable, or no
// authentication. The first is how it is shipped.
const (
	groupCommit = "group-commit"
	engineSync  = "engine-sync"
	noAuth      = "no-auth"
)

// A server is a child that answers HTTP on an address.
type server struct {
	*process
	*client

	ready time.Duration // from the start of the process to the first 200 at /readyz
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

// startWithWebhooks starts a server, creates webhooks, and returns their
// tokens.
func (b *bench) startWithWebhooks(
	ctx context.Context, name string, n int, mode string, settings ...string,
) (*server, []string, error) {
	s, err := b.startSluice(ctx, name, mode, settings...)
	if err != nil {
		return nil, nil, err
	}
	tokens, err := s.createWebhooks(ctx, n)
	if err != nil {
		return nil, nil, s.failed(err)
	}
	return s, tokens, nil
}

// restart stops a server, and starts another one on its data folder.
func (b *bench) restart(ctx context.Context, s *server, name string) (*server, error) {
	if err := s.stop(); err != nil {
		return nil, err
	}
	return b.startSluice(ctx, name, groupCommit)
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
	scheme := "http://"
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, certificateSetting) }) {
		scheme = "https://"
	}
	return p.awaitServer(ctx, name, scheme+address, began)
}

// startProgram starts another sluice program as a server.
func (b *bench) startProgram(ctx context.Context, name, program string, settings ...string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "--listen=" + address, "--data=" + filepath.Join(b.part, name), "--min-free-disk=64MiB"}
	for _, setting := range settings {
		args = append(args, "--"+setting)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "SLUICE_ADMIN_PASSWORD="+adminPassword)
	began := time.Now()
	p, err := b.launch(name, cmd)
	if err != nil {
		return nil, err
	}
	return p.awaitServer(ctx, name, "http://"+address, began)
}

// awaitServer waits until the process serves.
func (p *process) awaitServer(ctx context.Context, name, base string, began time.Time) (_ *server, err error) {
	s := &server{process: p}
	if s.client, err = newClient(base, writers); err == nil {
		err = s.awaitReady(ctx)
	}
	if err != nil {
		p.kill()
		return nil, p.failed(fmt.Errorf("server %s: %w", name, err))
	}
	s.ready = time.Since(began)
	return s, nil
}

// freeAddress returns a loopback address that is not in use.
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
	for {
		if _, err := s.send(ctx, httpRequest{path: "/readyz"}); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return errors.New("it ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", ctx.Err())
		case <-time.After(between):
		}
	}
}
