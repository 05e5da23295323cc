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
	"syscall"
	"time"
)

// A walkNode is a server that can hand over, and its folder.
type walkNode struct {
	*world

	dir, data, program string
	options            []string // where its engine is; nil: in it
	mounted            bool     // its disk is its own
	clock              string   // file with the seconds that the server's clock is ahead
	manager            *net.UnixConn
	server             *server
	pid                int // of the process that serves
	client             *client
	mayEnd             time.Time // until then the server may find that it can't go on
}

// startNode starts a server in a folder of its own.
func (w *world) startNode(ctx context.Context, name string, options []string) error {
	n := &walkNode{world: w, dir: filepath.Join(w.dir, name), options: options}
	w.nodes = append(w.nodes, n)
	n.data, n.program = filepath.Join(n.dir, "disk", "data"), filepath.Join(n.dir, "server")
	n.clock = filepath.Join(n.dir, "clock")
	if err := os.Mkdir(n.dir, 0o700); err != nil {
		return err
	}
	if err := errors.Join(n.mountDisk(), copyProgram(n.program)); err != nil {
		return err
	}
	socket := &net.UnixAddr{Name: filepath.Join(n.dir, "notify"), Net: "unixgram"}
	var err error
	if n.manager, err = net.ListenUnixgram("unixgram", socket); err != nil {
		return err
	}
	return n.start(ctx)
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
func (n *walkNode) start(ctx context.Context) error {
	listen := "127.0.0.1:0"
	if n.client != nil {
		listen = strings.TrimPrefix(n.client.url, "http://")
	}
	cmd := command(n.program, append([]string{restartPart, n.data, "listen=" + listen, "http-allow=127.0.0.0/8",
		"result-ttl=24h", clockOption + "=" + n.clock, "min-free-disk=24MiB"}, n.options...)...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(n.dir, "notify"))
	var err error
	if n.server, err = launchCommand(cmd); err != nil {
		return err
	}
	n.pid = cmd.Process.Pid
	banner, err := n.server.ready(ctx)
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, n.server.out) }()
	if _, err := n.hear("READY=1", startWithin); err != nil {
		return err
	}
	if n.client == nil {
		_, rest, _ := strings.Cut(banner, "listens on ")
		n.client = newClient(strings.Fields(rest + " ?")[0], 16)
	}
	n.client.close()
	n.starts++
	return nil
}

// hear waits for a message to the service manager, and returns what follows in its line. A server
// that has ended says nothing more.
func (n *walkNode) hear(what string, within time.Duration) (string, error) {
	until := time.Now().Add(within)
	for message := make([]byte, 4096); ; {
		if err := n.manager.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			return "", err
		}
		size, err := n.manager.Read(message)
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(until) && !n.ended() {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("no %s: %w: %s", what, err, n.server.log.text)
		}
		if text, found := strings.CutPrefix(string(message[:size]), what); found {
			return text, nil
		}
	}
}

// forgetHeard drops messages to the service manager that nobody waited for.
func (n *walkNode) forgetHeard() {
	for message := make([]byte, 4096); ; {
		_ = n.manager.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := n.manager.Read(message); err != nil {
			return
		}
	}
}

// kill ends the server as it stands.
func (n *walkNode) kill() {
	_ = syscall.Kill(n.pid, syscall.SIGKILL)
	<-n.server.exited // with the last process that has its log
	n.kills = append(n.kills, time.Now())
}

// ended reports whether the server has ended by itself, with all its processes.
func (n *walkNode) ended() bool {
	select {
	case <-n.server.exited:
		return true
	default:
		return false
	}
}

// stop ends the server cleanly, unless it has ended.
func (n *walkNode) stop() error {
	n.forgetHeard()
	if err := syscall.Kill(n.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	select {
	case <-n.server.exited:
		return nil
	case <-time.After(stopWithin):
		return errors.New("the server did not stop in time")
	}
}

// handOver lets the server hand over to the program at its path. One that ends meanwhile, or has
// ended, is left to those who start it again, and ask why.
func (n *walkNode) handOver() error {
	n.forgetHeard()
	if err := syscall.Kill(n.pid, syscall.SIGUSR2); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	text, err := n.hear("MAINPID=", startWithin)
	if err != nil && n.ended() {
		return nil
	}
	if err != nil {
		return err
	}
	n.pid, err = strconv.Atoi(strings.TrimSpace(text))
	n.starts++
	return err
}

// handOverToBroken lets the server hand over to a program that ends at once, and reports
// whether the server goes on.
func (n *walkNode) handOverToBroken(ctx context.Context) (goesOn bool, err error) {
	aside := n.program + ".aside"
	if err := os.Rename(n.program, aside); err != nil {
		return false, err
	}
	if err := os.WriteFile(n.program, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		return false, err
	}
	if err = syscall.Kill(n.pid, syscall.SIGUSR2); errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	sleep(ctx, 2*time.Second)
	goesOn = syscall.Kill(n.pid, 0) == nil
	for until := time.Now().Add(settleTime); goesOn && !isReady(ctx, n.client.url); sleep(ctx, pause) {
		goesOn = time.Now().Before(until) && syscall.Kill(n.pid, 0) == nil
	}
	return goesOn, errors.Join(err, os.Rename(aside, n.program))
}

// setClock sets the clock of the server ahead, or right.
func (n *walkNode) setClock(ahead time.Duration) error {
	file, err := os.OpenFile(n.clock, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(ahead/time.Second))), 0)
	return err
}

// remove ends the server, and lets go of its disk if nobody is to look at it.
func (n *walkNode) remove(keep bool) error {
	if n.server != nil {
		n.kill()
	}
	if n.manager != nil {
		_ = n.manager.Close()
	}
	if keep {
		return nil
	}
	return n.unmountDisk()
}
