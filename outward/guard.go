// Package outward is how the server calls others: which networks it may reach, in what time,
// how much it reads of a reply, whether it follows a redirect, and how it keeps what others
// publish, such as their keys.
//
// Steps, checks of signatures, the identity provider and the search for missed calls all dial
// through a Guard. What speaks no HTTP takes its DialContext.
package outward

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"sluice/limit"
)

// connectTime bounds how long a connection may take to be made, and TLS again.
const connectTime = 10 * time.Second

// ErrRefused is the error of an address that may not be called.
var ErrRefused = errors.New("the address is in a network that is not allowed")

// A Guard says which addresses may be called. Its zero value allows the Internet.
type Guard struct {
	networks []netip.Prefix
	only     bool
}

// Internet allows the Internet, and networks that the operator names.
func Internet(networks []netip.Prefix) Guard { return Guard{networks: networks} }

// Only allows networks that the operator names, and not the rest of the Internet.
func Only(networks []netip.Prefix) Guard { return Guard{networks: networks, only: true} }

// Allows reports whether an address may be called.
func (g Guard) Allows(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	switch {
	case limit.Contains(g.networks, addr):
		return true
	case g.only:
		return false
	case nat64.Contains(addr):
		bytes := addr.As16()
		return g.Allows(netip.AddrFrom4([4]byte(bytes[12:])))
	}
	return isPublic(addr)
}

// DialContext connects to an address, ErrRefused if it is not allowed. Addresses are checked
// when a connection is made. That is after the look-up of names and after each redirect, so
// neither can bypass it.
func (g Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: connectTime, Control: func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil || !g.Allows(target.Addr()) {
			return ErrRefused
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, address)
}
