package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"sluice/limit"
)

// Headers in which proxies pass on the address of a client. Only one of them is read: a
// proxy that writes one passes on whatever a client wrote in the other.
const (
	xForwardedFor = "x-forwarded-for"
	forwarded     = "forwarded"
)

// identify gives a request the IP address of its client, and removes a certificate that no
// trusted proxy has passed on. Doing so again changes nothing.
func (o *Options) identify(r *http.Request) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	peer, ok := hop(host)
	if ok && err != nil {
		return // an address without a port is that of an identified client
	}
	trusted := ok && limit.Contains(o.TrustedProxies, peer)
	if o.CertHeader != "" && !trusted {
		delete(r.Header, o.CertHeader)
	}
	switch {
	case trusted:
		r.RemoteAddr = o.behind(peer, r.Header).String()
	case ok && strings.Contains(host, ":"): // IPv4 has one spelling only
		r.RemoteAddr = peer.String()
	default:
		r.RemoteAddr = host
	}
}

// behind returns the client of a trusted proxy. The header of proxies counts only as far as
// trusted ones wrote it: read from its end, the first address that is not a trusted proxy is the
// client.
func (o *Options) behind(client netip.Addr, header http.Header) netip.Addr {
	last, name := lastHop, xForwardedFor
	if o.ForwardedHeader == forwarded {
		last, name = lastForwarded, forwarded
	}
	hops := strings.Join(header.Values(name), ",")
	for hops != "" && limit.Contains(o.TrustedProxies, client) {
		var text string
		hops, text = last(hops)
		next, ok := hop(text)
		if !ok {
			break
		}
		client = next
	}
	return client
}

// lastHop takes the last address from an X-Forwarded-For header.
func lastHop(header string) (rest, address string) {
	comma := strings.LastIndexByte(header, ',')
	return header[:max(comma, 0)], header[comma+1:]
}

// hop reads an address as proxies write it: alone, or with a port.
func hop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		addr = withPort.Addr()
	}
	return addr.Unmap().WithZone(""), err == nil
}

// lastForwarded takes the last element from a Forwarded header (RFC 7239), which the
// nearest proxy wrote, and returns its address.
func lastForwarded(header string) (rest, address string) {
	rest, element := cutLast(header, ',')
	return rest, forwardedFor(element)
}

// cutLast cuts at the last separator that is not within quotes. It reads from the end: what comes
// before may be from a client, and may be malformed.
func cutLast(text string, separator byte) (rest, last string) {
	quoted := false
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '"' && !escaped(text[:i]) {
			quoted = !quoted
		}
		if text[i] == separator && !quoted {
			return text[:i], text[i+1:]
		}
	}
	return "", text
}

// escaped reports whether a backslash before it makes a quote part of a text.
func escaped(before string) bool { return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 }

// forwardedFor returns the address of the parameter "for", empty if there is
// none or more than one.
func forwardedFor(element string) (address string) {
	for element != "" {
		var pair string
		element, pair = cutLast(element, ';')
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if address != "" {
			return ""
		}
		address = strings.Trim(value, `"`)
	}
	return address
}
