package step

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/limit"
)

const (
	maxURL        = 8 << 10
	maxHeaders    = 64 << 10 // bytes of the headers of a request, and of a reply
	maxHeaderName = 200
)

// parseURL returns the URL to call.
func parseURL(text string) (*url.URL, error) {
	target, err := url.Parse(text)
	if err != nil || len(text) > maxURL {
		return nil, invalid("url", "must be a URL of at most 8 KiB, such as https://api.example.com/leads")
	}
	if why := urlFault(target); why != "" {
		return nil, invalid("url", "%s", why)
	}
	target.RawQuery = strings.ReplaceAll(target.RawQuery, " ", "%20") // a space would end the request line
	return target, nil
}

// urlFault says what is wrong with a URL, or returns "".
func urlFault(target *url.URL) string {
	switch {
	case target.Scheme != "http" && target.Scheme != "https":
		return "must start with http:// or https://"
	case target.Hostname() == "":
		return "must name a host"
	case target.User != nil:
		return "must not have a user name or password; send the header authorization instead"
	}
	return ""
}

// isHeaderName reports whether a request may have a header of that name.
func isHeaderName(name string) bool { return len(name) <= maxHeaderName && sluice.IsHeaderName(name) }

// framing has the headers that net/http sets itself.
var framing = []string{
	"Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// headerOf returns the headers that the author of a pipeline wants to send.
func headerOf(fields map[string]any) (http.Header, error) {
	header := http.Header{}
	size := 0
	seen := map[string]bool{}
	for name, field := range fields {
		if !isHeaderName(name) {
			return nil, invalid("headers", "has a name that no header can have")
		}
		canonical := http.CanonicalHeaderKey(name)
		if slices.Contains(framing, canonical) || strings.HasPrefix(canonical, "Proxy-") {
			return nil, invalid("headers", "must not have %s: it is set by what is sent", canonical)
		}
		if seen[canonical] {
			return nil, invalid("headers", "has %s twice", canonical)
		}
		seen[canonical] = true
		value, ok := headerValue(field)
		if !ok {
			return nil, invalid("headers", "must have one line of text, a number, or true or false for %s", canonical)
		}
		if size += len(name) + len(value); size > maxHeaders {
			return nil, invalid("headers", "must not have more than 64 KiB")
		}
		header.Set(canonical, value)
	}
	return header, nil
}

func headerValue(field any) (value string, ok bool) {
	switch field.(type) {
	case nil, []any, map[string]any:
		return "", false
	}
	value, err := cellOf(field)
	if err != nil || !utf8.ValidString(value) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", false
	}
	return value, true
}

// refused are the networks that no request may reach: they lead to the machine itself, to
// its neighbours, or nowhere. For IPv6 the list has only global addresses; see public.
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

// allowed reports whether a request may connect to an address: on the Internet, or in a
// network that the operator allows.
func allowed(addr netip.Addr, networks []netip.Prefix) bool {
	addr = addr.Unmap().WithZone("")
	if limit.Contains(networks, addr) {
		return true
	}
	if nat64.Contains(addr) {
		bytes := addr.As16()
		return allowed(netip.AddrFrom4([4]byte(bytes[12:])), networks)
	}
	return public(addr)
}

// public reports whether an address is one on the Internet.
func public(addr netip.Addr) bool {
	return (addr.Is4() || global.Contains(addr)) && !limit.Contains(refused, addr)
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}
