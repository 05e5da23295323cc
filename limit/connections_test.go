package limit_test

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"sluice/limit"
)

func listen(t *testing.T, o limit.ConnectionOptions) net.Listener {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limit.NewListener(plain, o)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// piped is a listener with one connection within the process, which has the clock
// of the test.
type piped struct {
	net.Listener // of which nothing else is asked
	conn         net.Conn
}

func (p piped) Accept() (net.Conn, error) { return p.conn, nil }

// TestClientThatNeverReads: its connection ends although much is still to be
// written; one that reads slowly but steadily gets everything.
func TestClientThatNeverReads(t *testing.T) {
	const timeout, piece, pieces = 30 * time.Second, 64 << 10, 100
	for name, reads := range map[string]bool{"never": false, "slowly": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, client := net.Pipe()
				defer client.Close()
				l := limit.NewListener(piped{conn: near}, limit.ConnectionOptions{Total: 10, PerNetwork: 10, WriteTimeout: timeout})
				server, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				defer server.Close()
				if reads {
					go func() {
						for range pieces {
							<-time.After(timeout / 3)
							if _, err := io.CopyN(io.Discard, client, piece); err != nil {
								return
							}
						}
					}()
				}
				began := time.Now()
				n, err := server.Write(make([]byte, pieces*piece))
				took := time.Since(began)
				_ = client.Close()
				synctest.Wait()
				if reads && (err != nil || n != pieces*piece || took < 2*timeout) {
					t.Errorf("wrote %d bytes in %s: %v", n, took, err)
				}
				if !reads && (err == nil || took > timeout) {
					t.Errorf("wrote %d bytes to nobody in %s: %v", n, took, err)
				}
			})
		})
	}
}

// TestConnectionsOfOneClient: beyond its share, a client's connections are
// closed; those of trusted proxies are not.
func TestConnectionsOfOneClient(t *testing.T) {
	for name, proxies := range map[string][]netip.Prefix{"a client": nil, "a proxy": {netip.MustParsePrefix("127.0.0.0/8")}} {
		t.Run(name, func(t *testing.T) {
			l := listen(t, limit.ConnectionOptions{Total: 10, PerNetwork: 1, Proxies: proxies, WriteTimeout: time.Minute})
			dial(t, l)
			if _, err := l.Accept(); err != nil {
				t.Fatal(err)
			}
			second := dial(t, l)
			accepted := make(chan struct{})
			go func() {
				defer close(accepted)
				if c, err := l.Accept(); err == nil {
					_ = c.Close()
				}
			}()
			_, err := second.Read(make([]byte, 1)) // ends either way
			if err == nil {
				t.Fatal("read something")
			}
			if proxies == nil {
				_ = l.Close()
			}
			<-accepted
		})
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1":              "10.0.0.1",
		"::ffff:10.0.0.1":       "::ffff:10.0.0.1",
		"2001:db8::1":           "2001:db8::/64",
		"2001:db8::ffff:1":      "2001:db8::/64",
		"fe80::1%eth0":          "fe80::/64",
		"2001:db8:0:1::1":       "2001:db8:0:1::/64",
		"not an address at all": "not an address at all",
	} {
		if got := limit.Network(address); got != want {
			t.Errorf("%s is of %s, want %s", address, got, want)
		}
	}
}
