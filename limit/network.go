package limit

import (
	"net/netip"
	"slices"
)

// Network returns the key of a client address. One IPv6 client can have a whole /64, so the
// network counts.
func Network(address string) string { return keyOf(address, 32) }

// Neighbours returns the key of the addresses around one that a single stranger may well
// have: a /24 of IPv4, a /64 of IPv6.
func Neighbours(address string) string { return keyOf(address, 24) }

func keyOf(address string, bits int) string {
	addr, err := netip.ParseAddr(address)
	if network := networkOf(addr, bits); err == nil && !network.IsSingleIP() {
		return network.String()
	}
	return address
}

// networkOf returns the network of an address, which has so many bits if it is one of IPv4.
func networkOf(addr netip.Addr, bits int) netip.Prefix {
	if addr = addr.Unmap(); addr.Is6() {
		bits = 64
	}
	network, _ := addr.WithZone("").Prefix(bits) // it can't fail: an address has that many bits
	return network
}

// Contains reports whether an address is in one of the networks.
func Contains(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(addr) })
}
