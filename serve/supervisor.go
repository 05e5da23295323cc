package serve

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"sluice"
	"sluice/wait"
)

// A supervisor is the service manager that started the program, such as systemd with
// Type=notify. Without one its methods do nothing.
type supervisor struct {
	socket   string        // empty: there is none
	watchdog time.Duration // after which it restarts a silent program; 0: never
	log      *slog.Logger
}

// findSupervisor reads the variables that a service manager sets.
func findSupervisor(log *slog.Logger) supervisor {
	s := supervisor{socket: os.Getenv("NOTIFY_SOCKET"), log: log}
	if pid := os.Getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if us, err := strconv.Atoi(os.Getenv("WATCHDOG_USEC")); err == nil && us > 0 {
			s.watchdog = time.Duration(us) * time.Microsecond
		}
	}
	return s
}

const (
	untilReady = 50 * time.Millisecond // how often readiness is checked until the server is ready
	statusTime = 10 * time.Second      // and afterwards, without a watchdog
	// tellTimeout is how long a manager that reads nothing may hold up the server.
	tellTimeout = time.Second
)

// watch tells the supervisor when the server is ready for the first time, and from then on
// that it is alive, with its state in words. A server that is alive may be unready, as with
// a full disk, where a restart would not help. If the engine hangs, readiness does not
// return, and the server is silent.
func (s supervisor) watch(ctx context.Context, readiness func() (map[string]any, error)) {
	if s.socket == "" {
		return
	}
	every := untilReady
	for {
		status := "Ready."
		_, err := readiness()
		if err != nil {
			status = sluice.AsError(err).Message
		}
		switch {
		case every != untilReady:
			s.tell("WATCHDOG=1\nSTATUS=" + status)
		case err == nil:
			s.tell("READY=1\nSTATUS=" + status)
			if every = statusTime; s.watchdog > 0 {
				every = min(every, s.watchdog/2)
			}
		}
		if wait.For(ctx, every) != nil {
			return
		}
	}
}

// tell sends a message of the protocol that sd_notify(3) describes.
func (s supervisor) tell(message string) {
	if s.socket == "" {
		return
	}
	conn, err := new(net.Dialer).DialContext(context.Background(), "unixgram", s.socket)
	if err == nil {
		defer func() { _ = conn.Close() }()
		_ = conn.SetWriteDeadline(time.Now().Add(tellTimeout)) // otherwise the write says so
		_, err = conn.Write([]byte(message))
	}
	if err != nil {
		s.log.Warn("The service manager can't be told how the server is.", "error", err)
	}
}
