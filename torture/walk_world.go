package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A world is a server that can hand over, its folder, and the recipients that its pipelines
// send to.
type world struct {
	settings

	dir, data, program string
	mounted            bool   // its disk is its own
	clock              string // file with the seconds that the server's clock is ahead
	manager            *net.UnixConn
	server             *server
	pid                int // of the process that serves
	client             *client
	a, b               *recipient
	starts             int
	kills              []time.Time
	faults             []time.Time // when they were over
	reviving           sync.Mutex
	mayEnd             time.Time // until then the server may find that it can't go on
}

func newWorld(ctx context.Context, s settings) (_ *world, err error) {
	w := &world{settings: s, a: newRecipient(), b: newRecipient()}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.remove(false))
		}
	}()
	if w.dir, err = os.MkdirTemp(s.dir, "torture-walk-"); err != nil {
		return nil, err
	}
	w.data, w.program = filepath.Join(w.dir, "disk", "data"), filepath.Join(w.dir, "server")
	if err = w.mountDisk(); err != nil {
		return nil, err
	}
	w.clock = filepath.Join(w.dir, "clock")
	if err = copyProgram(w.program); err != nil {
		return nil, err
	}
	socket := &net.UnixAddr{Name: filepath.Join(w.dir, "notify"), Net: "unixgram"}
	if w.manager, err = net.ListenUnixgram("unixgram", socket); err != nil {
		return nil, err
	}
	return w, w.start(ctx)
}

// copyProgram copies this program: a hand-over starts what is at the path then.
func copyProgram(to string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, from)
	return errors.Join(err, copied.Close())
}

// start starts the server and waits until it is ready.
func (w *world) start(ctx context.Context) error {
	listen := "127.0.0.1:0"
	if w.client != nil {
		listen = strings.TrimPrefix(w.client.url, "http://")
	}
	cmd := command(w.program, restartPart, w.data, "listen="+listen, "http-allow=127.0.0.0/8", "result-ttl=24h",
		clockOption+"="+w.clock, "min-free-disk=24MiB")
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(w.dir, "notify"))
	var err error
	if w.server, err = launchCommand(cmd); err != nil {
		return err
	}
	w.pid = cmd.Process.Pid
	banner, err := w.server.ready(ctx)
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, w.server.out) }()
	if _, err := w.hear("READY=1", startWithin); err != nil {
		return err
	}
	if w.client == nil {
		_, rest, _ := strings.Cut(banner, "listens on ")
		w.client = newClient(strings.Fields(rest + " ?")[0], 16)
	}
	w.client.close()
	w.starts++
	return nil
}

// hear waits for a message to the service manager, and returns what follows in its line. A server
// that has ended says nothing more.
func (w *world) hear(what string, within time.Duration) (string, error) {
	until := time.Now().Add(within)
	for message := make([]byte, 4096); ; {
		if err := w.manager.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			return "", err
		}
		n, err := w.manager.Read(message)
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(until) && !w.ended() {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("no %s: %w: %s", what, err, w.server.log.text)
		}
		if text, found := strings.CutPrefix(string(message[:n]), what); found {
			return text, nil
		}
	}
}

// forgetHeard drops messages to the service manager that nobody waited for.
func (w *world) forgetHeard() {
	for message := make([]byte, 4096); ; {
		_ = w.manager.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := w.manager.Read(message); err != nil {
			return
		}
	}
}

// kill ends the server as it stands.
func (w *world) kill() {
	_ = syscall.Kill(w.pid, syscall.SIGKILL)
	<-w.server.exited // with the last process that has its log
	w.kills = append(w.kills, time.Now())
}

// ended reports whether the server has ended by itself, with all its processes.
func (w *world) ended() bool {
	select {
	case <-w.server.exited:
		return true
	default:
		return false
	}
}

// stop ends the server cleanly, unless it has ended.
func (w *world) stop() error {
	if err := syscall.Kill(w.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	select {
	case <-w.server.exited:
		return nil
	case <-time.After(stopWithin):
		return errors.New("the server did not stop in time")
	}
}

// handOver lets the server hand over to the program at its path. One that ends meanwhile, or has
// ended, is left to those who start it again, and ask why.
func (w *world) handOver() error {
	w.forgetHeard()
	if err := syscall.Kill(w.pid, syscall.SIGUSR2); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	text, err := w.hear("MAINPID=", startWithin)
	if err != nil && w.ended() {
		return nil
	}
	if err != nil {
		return err
	}
	w.pid, err = strconv.Atoi(strings.TrimSpace(text))
	w.starts++
	return err
}

// handOverToBroken lets the server hand over to a program that ends at once, and reports
// whether the server goes on.
func (w *world) handOverToBroken(ctx context.Context) (goesOn bool, err error) {
	aside := w.program + ".aside"
	if err := os.Rename(w.program, aside); err != nil {
		return false, err
	}
	if err := os.WriteFile(w.program, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		return false, err
	}
	if err = syscall.Kill(w.pid, syscall.SIGUSR2); errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	sleep(ctx, 2*time.Second)
	goesOn = syscall.Kill(w.pid, 0) == nil
	for until := time.Now().Add(settleTime); goesOn && !isReady(ctx, w.client.url); sleep(ctx, pause) {
		goesOn = time.Now().Before(until) && syscall.Kill(w.pid, 0) == nil
	}
	return goesOn, errors.Join(err, os.Rename(aside, w.program))
}

// remove ends everything, and removes it unless it is to be looked at.
func (w *world) remove(keep bool) error {
	if w.server != nil {
		w.kill()
	}
	for _, r := range []*recipient{w.a, w.b} {
		r.CloseClientConnections()
		r.Close()
	}
	if w.manager != nil {
		_ = w.manager.Close()
	}
	if keep && os.Getenv("TORTURE_KEEP") != "" {
		fmt.Println("kept:", w.dir)
		return nil
	}
	return errors.Join(w.unmountDisk(), os.RemoveAll(w.dir))
}

// setClock sets the clock of the server ahead, or right.
func (w *world) setClock(ahead time.Duration) error {
	file, err := os.OpenFile(w.clock, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(ahead/time.Second))), 0)
	return err
}
