package sluice

import (
	"net"
	"net/url"
	"strings"
)

// IsServerURL reports whether a text is the URL of a server, perhaps with a path.
func IsServerURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.RawQuery == "" &&
		u.Fragment == "" && u.User == nil
}

// ServerOf returns the scheme and host of an address, without its path and query, which may have a
// token in them; "" if it has no host.
func ServerOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// The paths of the HTTP API, for the server and its clients.
const (
	CommandPath   = "/api/v3/command/" // and the name of a command
	PipelinePath  = "/api/v3/pipeline" // and a slash and the name of a stored one
	ResultPath    = "/api/v3/result"
	EventsPath    = "/api/v3/events"
	AuthPath      = "/auth/"                                  // below which the issuer of tokens is
	RealmsPath    = AuthPath + "realms/"                      // and the namespace
	OpenIDPath    = "/.well-known/openid-configuration"       // below the issuer's URL
	AuthorizePath = "/authorize"                              // where people let programs act for them
	MetadataPath  = "/.well-known/oauth-authorization-server" // and the path of the issuer's URL (RFC 8414)
	AgentPath     = "/mcp"                                    // where agents find the commands as tools
	ResourcePath  = "/.well-known/oauth-protected-resource"   // describes who lets them in (RFC 9728)
	OpenAPIPath   = "/openapi.json"
	HealthPath    = "/healthz"
	ReadyPath     = "/readyz"
	MetricsPath   = "/metrics"
	LivePath      = "/live" // what pages follow

	// ReceivePath is where webhooks are called.
	ReceivePath = CommandPath + "webhook.receive"

	// HookPath and a token are a second address of a webhook, for senders that refuse or
	// lose a query. Anything may stand behind it.
	HookPath = "/hook/"
)

// PathWithoutToken returns a path as logs may have it: without the token of a webhook.
func PathWithoutToken(path string) string {
	rest, ok := strings.CutPrefix(path, HookPath)
	if !ok {
		return path
	}
	token, _, _ := strings.Cut(rest, "/")
	return HookPath + "…" + Last6(token)
}
