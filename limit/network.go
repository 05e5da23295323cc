package limit

import (
	"net/netip"
	"slices"
)

// Network returns the key of a client address. One IPv6 client can have a whole /64, so the
// network counts.
func Network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Unmap().Is4() {
		return address
	}
	return networkOf(addr).String()
}

// Neighbours returns the key of the addresses around one that a single stranger may well
// have: a /24 of IPv4, a /64 of IPv6.
func Neighbours(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || !addr.Unmap().Is4() {
		return Network(address)
	}
	const bits = 24
	network, _ := addr.Unmap().Prefix(bits) // it can't fail: an address has more bits
	return network.String()
}

func networkOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.WithZone("").Prefix(bits) // it can't fail: an address has that many bits
	return network
}

// Contains reports whether an address is in one of the networks.
func Contains(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(addr) })
}
