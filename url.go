package sluice

import (
	"net"
	"net/url"
)

// IsServerURL reports whether a text is the URL of a server, perhaps with a path.
func IsServerURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.RawQuery == "" &&
		u.Fragment == "" && u.User == nil
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
