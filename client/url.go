package client

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"sluice"
)

// CleanURL returns the URL of a server in the form that is stored and compared. A
// missing scheme is http for this machine and private networks, otherwise https.
func CleanURL(text string) (string, error) {
	whole := strings.TrimRight(withScheme(strings.TrimSpace(text)), "/")
	u, err := url.Parse(whole)
	if err != nil || !sluice.IsServerURL(whole) {
		return "", usage("%q is no URL of a server; give one such as https://hooks.example.com or 127.0.0.1:8080.",
			text)
	}
	u.Host = strings.ToLower(u.Host)
	return u.String(), nil
}

// withScheme adds the scheme to a URL that has none.
func withScheme(text string) string {
	if strings.Contains(text, "://") {
		return text
	}
	if u, err := url.Parse("http://" + text); err == nil && !isPrivate(u.Hostname()) {
		return "https://" + text
	}
	return "http://" + text
}

// isPrivate reports whether a host is this machine or one of a private network.
func isPrivate(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	endings := []string{".localhost", ".local", ".internal", ".lan", ".test"}
	return !strings.Contains(host, ".") ||
		slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(host, ending) })
}
