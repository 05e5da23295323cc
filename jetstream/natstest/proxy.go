package natstest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// A Proxy leads to a server, and can hang: connections stay open, but nothing moves on
// them.
type Proxy struct {
	URL      string
	listener net.Listener
	used     atomic.Int64 // connections that are open
	copies   sync.WaitGroup

	mu     sync.Mutex
	target string
	gate   chan struct{} // closed while things move
	conns  []net.Conn
}

// StartProxy returns a proxy of the server at a host and port.
func StartProxy(t *testing.T, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{URL: "nats://" + l.Addr().String(), target: target, listener: l, gate: make(chan struct{})}
	close(p.gate)
	p.copies.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.GoOn()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.copies.Wait()
	})
	return p
}

// Used reports whether there is a connection.
func (p *Proxy) Used() bool { return p.used.Load() > 0 }

// LeadTo gives new connections another server: one that comes back can't have its port, which
// somebody else may have taken.
func (p *Proxy) LeadTo(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

func (p *Proxy) dial() (net.Conn, error) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	return net.Dial("tcp", target)
}

// Hang stops everything from moving.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
}

// GoOn lets everything move again.
func (p *Proxy) GoOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

func (p *Proxy) open() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gate
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := p.dial()
		if err != nil {
			_ = near.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, near, far)
		p.mu.Unlock()
		p.used.Add(1)
		p.copies.Go(func() {
			p.copy(far, near)
			p.used.Add(-1)
		})
		p.copies.Go(func() { p.copy(near, far) })
	}
}

// copy moves bytes while things move.
func (p *Proxy) copy(to io.WriteCloser, from io.Reader) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		<-p.open()
		n, err := from.Read(buffer)
		<-p.open()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
