package api

import (
	"net/netip"
	"strings"
)

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

// lastForwarded takes the last element from a Forwarded header (RFC 7239),
// which the nearest proxy has written, and returns its address. It reads from
// the end: what comes before may be a client's, and need not be well-formed.
func lastForwarded(header string) (rest, address string) {
	begin, quoted := 0, false
	for i := len(header) - 1; i >= 0; i-- {
		if header[i] == '"' && !escaped(header[:i]) {
			quoted = !quoted
		}
		if header[i] == ',' && !quoted {
			begin = i + 1
			break
		}
	}
	rest = strings.TrimSuffix(header[:begin], ",")
	return rest, forwardedFor(header[begin:])
}

// escaped reports whether a backslash before it makes a quote part of a text.
func escaped(before string) bool {
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// forwardedFor returns the address of the parameter "for", empty if there is
// none or more than one.
func forwardedFor(element string) (address string) {
	for element != "" {
		var pair string
		pair, element = cutPair(element)
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

// cutPair cuts at the first semicolon that is not within quotes.
func cutPair(element string) (pair, rest string) {
	quoted := false
	for i := range len(element) {
		if element[i] == '"' && !escaped(element[:i]) {
			quoted = !quoted
		}
		if element[i] == ';' && !quoted {
			return element[:i], element[i+1:]
		}
	}
	return element, ""
}
