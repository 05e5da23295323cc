// Package outward is how the server calls others: the networks it may reach, the bounds of time
// and size, redirects, and keeping what others publish, such as their keys.
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

// refused are the networks that no call may reach: they lead to the machine itself, to
// its neighbours, or nowhere. For IPv6 the list has only global addresses; see isPublic.
var refused = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // behind a carrier's address translation
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // metadata of a cloud, at a public address
	"169.254.0.0/16",   // link-local, and the metadata of clouds
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments, and the metadata of a cloud
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // relays of 6to4
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast

	"2001::/23",     // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4: any IPv4 address in disguise
	"3fff::/20",     // documentation
)

var (
	global = netip.MustParsePrefix("2000::/3")
	nat64  = netip.MustParsePrefix("64:ff9b::/96") // the last 4 bytes are an IPv4 address
)

// isPublic reports whether an address is one on the Internet.
func isPublic(addr netip.Addr) bool {
	return (addr.Is4() || global.Contains(addr)) && !limit.Contains(refused, addr)
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}
