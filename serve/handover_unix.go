//go:build unix

package serve

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The descriptors of a program whose socket was open before it started. Service managers pass on the first one,
// see sd_listen_fds(3).
const (
	socketDescriptor    = 3
	neighbourDescriptor = 4
)

// handOverVariable is set for a program that replaces its parent.
const handOverVariable = "SLUICE_HANDOVER"

// inherited are variables for one process, not for its successors.
var inherited = []string{handOverVariable, "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID", "WATCHDOG_PID"}

// inherit returns the socket that this process was given, nil if there is none. With a socket that another program
// hands over, it returns that program, too.
func inherit() (listen func() (net.Listener, error), before *neighbour, err error) {
	handed, count := os.Getenv(handOverVariable) != "", os.Getenv("LISTEN_FDS")
	switch {
	case handed:
		if before, err = neighbourAt(neighbourDescriptor); err != nil {
			return nil, nil, err
		}
	case count == "" || os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()):
		return nil, nil, nil
	case count != "1":
		return nil, nil, fmt.Errorf("LISTEN_FDS is %s, and a server listens on one socket: "+
			"leave one ListenStream in its socket unit", count)
	}
	syscall.CloseOnExec(socketDescriptor)
	socket := os.NewFile(socketDescriptor, "the first socket of LISTEN_FDS")
	return func() (net.Listener, error) { return listenerOf(socket) }, before, nil
}

// neighbourAt returns the neighbour at the other end of a socket.
func neighbourAt(descriptor int) (*neighbour, error) {
	syscall.CloseOnExec(descriptor)
	file := os.NewFile(uintptr(descriptor), "neighbour")
	conn, err := net.FileConn(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("the other program can't be heard: %w", err)
	}
	return &neighbour{conn: conn, from: bufio.NewReader(conn)}, nil
}

// handOverSignals returns the requests for a hand-over, until stop is called. From then on the
// end of whoever reads the log does not end this process.
func handOverSignals() (signals <-chan os.Signal, stop func()) {
	asked := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(asked, syscall.SIGUSR2)
	return asked, func() { signal.Stop(asked) }
}

// launch starts the program at the path of this one, with the same arguments.
func launch(socket net.Listener, environ []string) (*neighbour, error) {
	program, err := ownPath()
	if err != nil {
		return nil, err
	}
	kept, err := duplicate(socket)
	if err != nil {
		return nil, err
	}
	environ = slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(inherited, name)
	})
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, errors.Join(err, syscall.Close(kept))
	}
	// Not os.StartProcess: it would switch the shared socket to blocking.
	pid, err := syscall.ForkExec(program, os.Args, &syscall.ProcAttr{ //nolint:gosec // it is the path of this program
		Env:   append(environ, handOverVariable+"=1"),
		Files: []uintptr{0, 1, 2, uintptr(kept), uintptr(pair[1])},
	})
	_ = syscall.Close(pair[1])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", program, err), syscall.Close(kept), syscall.Close(pair[0]))
	}
	next, err := neighbourAt(pair[0])
	if err != nil {
		return nil, errors.Join(err, syscall.Close(kept)) // the successor notices
	}
	next.process, err = os.FindProcess(pid)
	next.socket = os.NewFile(uintptr(kept), "the socket of this server")
	return next, err
}

// ownPath returns the path of this program. A newer one may be there by now.
func ownPath() (string, error) {
	name, err := exec.LookPath(os.Args[0])
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(name)
}

// duplicate returns another descriptor of a socket, without changing it.
func duplicate(socket net.Listener) (kept int, err error) {
	system, ok := socket.(syscall.Conn)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return 0, err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	controlErr := raw.Control(func(descriptor uintptr) {
		if kept, err = syscall.Dup(int(descriptor)); err == nil {
			syscall.CloseOnExec(kept)
		}
	})
	return kept, errors.Join(controlErr, err)
}
