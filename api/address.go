package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"sluice/limit"
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
	for i := len(hops) - 1; i >= 0 && limit.Contains(trusted, client); i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break
		}
		client = hop
	}
	return client.String()
}

// parseHop reads an address of X-Forwarded-For. Some proxies write the port, too.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	addr, err := netip.ParseAddr(text)
	if withPort, e := netip.ParseAddrPort(text); e == nil {
		addr, err = withPort.Addr(), nil
	}
	return addr.Unmap().WithZone(""), err == nil
}
