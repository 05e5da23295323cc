package step_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
)

// nameServer lets a name server answer all questions of a test with the address
// of that moment; none means that there is no such host.
func nameServer(t *testing.T, address func() netip.Addr) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		question := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(question)
			if err != nil {
				return
			}
			server.WriteTo(reply(question[:n], address()), from)
		}
	}()
	before := net.DefaultResolver
	t.Cleanup(func() {
		net.DefaultResolver = before
		server.Close()
		<-done
	})
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// reply answers a question for an IPv4 address; one for another type gets no
// records.
func reply(question []byte, address netip.Addr) []byte {
	const header, typeA, noSuchHost = 12, 1, 3
	end := header
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5 // the root label, type and class
	answers := uint16(0)
	code := byte(0)
	if !address.IsValid() {
		code = noSuchHost
	} else if binary.BigEndian.Uint16(question[end-4:]) == typeA {
		answers = 1
	}
	message := append([]byte{}, question[:2]...)
	message = append(message, 0x84, code, 0, 1)
	message = binary.BigEndian.AppendUint16(message, answers)
	message = append(message, 0, 0, 0, 0)
	message = append(message, question[header:end]...)
	if answers == 1 {
		message = append(message, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
		message = append(message, address.AsSlice()...)
	}
	return message
}
