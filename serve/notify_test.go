package serve_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A manager is a service manager that listens as systemd does.
type manager struct {
	t    *testing.T
	conn *net.UnixConn
}

func newManager(t *testing.T) *manager {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", name)
	return &manager{t, conn}
}

// next returns the next message.
func (m *manager) next() string {
	m.t.Helper()
	if err := m.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		m.t.Fatal(err)
	}
	message := make([]byte, 4096)
	n, err := m.conn.Read(message)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(message[:n])
}

// TestServiceManager hears once that the server is ready, then again and again that it is alive,
// with its state, and at last of its stop.
func TestServiceManager(t *testing.T) {
	m := newManager(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	r := runServer(t, adminPassword)
	if got := m.next(); got != "READY=1\nSTATUS=Ready." {
		t.Errorf("the first message is %q", got)
	}
	for range 3 {
		if got := m.next(); got != "WATCHDOG=1\nSTATUS=Ready." {
			t.Errorf("a further message is %q", got)
		}
	}
	r.stop()
	got := m.next()
	for ; strings.HasPrefix(got, "WATCHDOG=1\n"); got = m.next() {
	}
	if got != "STOPPING=1" {
		t.Errorf("the last message is %q", got)
	}
}

// TestServiceManagerOfAServerThatIsNotReady: it is alive, and says why not.
func TestServiceManagerOfAServerThatIsNotReady(t *testing.T) {
	m := newManager(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	r := startRun(t, adminPassword, "nats=nats://127.0.0.1:1", "secret-key="+strings.Repeat("A", 43)+"=")
	eventually(t, "the server to listen", func() bool { return strings.Contains(r.banner.String(), "listens on") })
	r.stop()
	if got := m.next(); got != "STOPPING=1" {
		t.Errorf("a server that was never ready says %q", got)
	}
}

// TestServiceManagerThatDoesNotRead: it holds up no stop for long.
func TestServiceManagerThatDoesNotRead(t *testing.T) {
	m := newManager(t)
	r := runServer(t, adminPassword)
	m.next()
	full, err := net.DialUnix("unixgram", nil, m.conn.LocalAddr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for err == nil {
		if err = full.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err == nil {
			_, err = full.Write([]byte("STATUS=nobody reads this"))
		}
	}
	r.stop()
}

// TestWatchdogOfAnotherProcess: the variables may be inherited.
func TestWatchdogOfAnotherProcess(t *testing.T) {
	m := newManager(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "1")
	r := runServer(t, adminPassword)
	if got := m.next(); got != "READY=1\nSTATUS=Ready." {
		t.Errorf("the first message is %q", got)
	}
	r.stop()
	if got := m.next(); got != "STOPPING=1" {
		t.Errorf("the next message is %q", got)
	}
}
