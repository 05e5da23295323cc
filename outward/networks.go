package outward

import (
	"net/netip"

	"sluice/limit"
)

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
