package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice/config"
	"sluice/jetstream"
	"sluice/serve"
)

const (
	serverPart    = "server"
	adminPassword = "torture chamber" // of a server that only this machine reaches
	startWithin   = time.Minute
	stopWithin    = 45 * time.Second // a server waits for runs, calls and its disk, 23 seconds in all
)

// What a server of a negative control does not sync, as an argument of its
// process.
const (
	syncNothing   = "sync-nothing"
	syncNoResults = "sync-no-results"
)

var syncModes = map[string]jetstream.SyncMode{syncNothing: jetstream.NoSync, syncNoResults: jetstream.NoResultSync}

// runServer is the server's process. It prints its URL once it is ready. Options are
// settings, name=value, or what is not synced.
func runServer(ctx context.Context, data string, options []string) error {
	endWithParent()
	set := map[string]string{
		"data":                        data,
		"listen":                      "127.0.0.1:0",
		"event-max-bytes":             "1024GiB", // retention is not what is tested
		"result-ttl":                  "24h",
		"max-connections-per-address": "16384",
		"http-allow":                  "127.0.0.0/8", // where the counter of runs is
	}
	mode := jetstream.GroupCommit
	for _, option := range options {
		name, value, ok := strings.Cut(option, "=")
		switch {
		case !ok:
			mode = syncModes[option]
		case bends[name] == nil:
			set[name] = value
		default:
			if err := bends[name](value); err != nil {
				return err
			}
		}
	}
	cfg, err := config.Load("", nil, set)
	if err != nil {
		return err
	}
	s, err := serve.Start(ctx, cfg, serve.Options{
		AdminPassword: adminPassword,
		Log:           slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Sync:          mode,
	})
	if err != nil {
		return err
	}
	if _, _, err = s.CreateAdmin(ctx); err == nil {
		fmt.Println(s.URL())
		err = s.Wait(ctx)
	}
	return errors.Join(err, s.Stop()) //nolint:contextcheck // ctx has ended by now, and the stop has a bound of its own
}

// bends are options that change the world that a server lives in.
var bends = map[string]func(value string) error{
	clockOption:       bendClock,
	descriptorsOption: bendDescriptors,
	leakOption:        bendMemory,
}

func bendDescriptors(value string) error {
	most, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
}

// A server is a running server process.
type server struct {
	cmd    *exec.Cmd
	out    io.Reader
	log    *tail
	exited chan struct{}
	err    error // how it ended, once exited is closed
}

// launch starts a server process on a data folder.
func launch(data string, options ...string) (*server, error) {
	return launchPart(append([]string{serverPart, data}, options...)...)
}

// launchPart starts a part of this program that is a server.
func launchPart(args ...string) (*server, error) {
	cmd, err := partCommand(args...)
	if err != nil {
		return nil, err
	}
	return launchCommand(cmd)
}

// launchCommand starts a process that prints a line once it is ready.
func launchCommand(cmd *exec.Cmd) (*server, error) {
	// Held open until the process has ended: see endWithParent.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, out: out, log: new(tail), exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = in, s.log
	err = cmd.Start()
	_ = in.Close()
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	go func() {
		s.err = cmd.Wait()
		_ = out.Close()
		close(s.exited)
	}()
	return s, nil
}

// ready waits until the server serves, and gives its URL.
func (s *server) ready(ctx context.Context) (url string, err error) {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(s.out).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case url := <-line:
		if url == "" {
			s.kill()
			return "", fmt.Errorf("the server did not start: %w: %s", s.err, s.log.text)
		}
		return url, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(startWithin):
		return "", errors.New("the server did not start in time")
	}
}

// signal sends a signal, unless the process has ended.
func (s *server) signal(sig syscall.Signal) { _ = s.cmd.Process.Signal(sig) }

// kill ends the process as it stands. It may be called again.
func (s *server) kill() {
	s.signal(syscall.SIGKILL)
	<-s.exited
}

// stop ends the process cleanly.
func (s *server) stop() error {
	s.signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(stopWithin):
		s.kill()
		return errors.New("the server did not stop in time")
	}
	if s.err != nil {
		return fmt.Errorf("the server did not stop cleanly: %w: %s", s.err, s.log.text)
	}
	return nil
}
