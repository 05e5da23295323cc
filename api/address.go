package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// clientAddress gives the IP address that a request comes from. X-Forwarded-For
// counts only as far as it was written by trusted proxies: read from its end,
// the first address that is none of them is the client.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	if len(trusted) == 0 && !strings.Contains(host, ":") {
		return host // IPv4: nothing to normalise
	}
	client, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	client = client.Unmap().WithZone("")
	if len(trusted) == 0 {
		return client.String()
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && contains(trusted, client); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		client = hop.Unmap().WithZone("")
	}
	return client.String()
}

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
