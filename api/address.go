package api

import (
	"net"
	"net/http"
	"strings"

	"sluice/limit"
)

// Headers by which proxies tell the address of a client. Only one of them is
// read: a proxy that writes the one passes on what a client wrote in the other.
const (
	xForwardedFor = "x-forwarded-for"
	forwarded     = "forwarded"
)

// clientAddress returns the IP address that a request comes from. The header
// that proxies write counts only as far as it was written by trusted ones: read
// from its end, the first address that is none of them is the client.
func (o *Options) clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	if len(o.TrustedProxies) == 0 && !strings.Contains(host, ":") {
		return host // IPv4: nothing to normalise
	}
	client, ok := hop(host)
	if !ok {
		return host
	}
	if !limit.Contains(o.TrustedProxies, client) {
		return client.String()
	}
	last, name := lastHop, xForwardedFor
	if o.ForwardedHeader == forwarded {
		last, name = lastForwarded, forwarded
	}
	hops := strings.Join(r.Header.Values(name), ",")
	for hops != "" && limit.Contains(o.TrustedProxies, client) {
		var text string
		hops, text = last(hops)
		next, ok := hop(text)
		if !ok {
			break
		}
		client = next
	}
	return client.String()
}

// lastHop takes the last address from an X-Forwarded-For header.
func lastHop(header string) (rest, address string) {
	comma := strings.LastIndexByte(header, ',')
	return header[:max(comma, 0)], header[comma+1:]
}
