package sluice

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IsServerURL reports whether a text is the URL of a server, perhaps with a path.
func IsServerURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
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

// ShownPath returns a path as logs may have it: without the token of a webhook.
func ShownPath(path string) string {
	rest, ok := strings.CutPrefix(path, HookPath)
	if !ok {
		return path
	}
	token, _, _ := strings.Cut(rest, "/")
	return HookPath + "…" + Last6(token)
}

// Names in requests and answers.
const (
	CorrelationHeader = "Svc-Result-Correlationid" // the id to poll with
	CorrelationQuery  = "svc-result-correlationid" // the same id in a poll
	RedirectQuery     = "pollingRedirectEnabled"   // whether polls are redirected until the result is ready
	TraceHeader       = "Svc-Trace-Id"             // names the call in logs and traces

	// HopsHeader counts the events and pipelines that led to a request of a
	// pipeline, so that loops through HTTP end, too.
	HopsHeader = "Svc-Hops"
)

// PollInterval is how far apart polls for a result that is not ready must be.
const PollInterval = 5 * time.Second

// A Request is the HTTP request that led to a call, as far as pipelines see it.
type Request struct {
	Method     string
	RawQuery   string
	Header     map[string][]string // by canonical names
	RemoteAddr string
}

type requestKey struct{}

// WithRequest returns a context for what a request leads to.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, &r)
}

func requestFrom(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// IsHeaderName reports whether a header can have that name (a token of RFC 9110).
func IsHeaderName(name string) bool {
	const ofNames = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return name != "" && strings.Trim(name, ofNames) == ""
}

// secretWords stand in the names of headers that carry keys of their sender.
var secretWords = []string{
	"authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "credential", "session", "jwt", "bearer",
	"api-key", "apikey", "access-key", "auth-key", "private-key", "subscription-key", "functions-key",
}

// SecretHeader reports whether a header, in lower case, carries a key of its sender, by its
// name. Such headers are not stored, passed on or shown.
func SecretHeader(name string) bool {
	switch name {
	case "accept", "accept-encoding", "content-length", "content-type", "host", "user-agent": // of nearly every call
		return false
	case "uuid", "x-auth":
		return true
	}
	if strings.Contains(name, "_") {
		name = strings.ReplaceAll(name, "_", "-")
	}
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// RequestFrom returns the request that led to ctx as pipelines see it: method,
// query, headers and remoteAddr; nil if there is none.
func RequestFrom(ctx context.Context) map[string]any {
	r := requestFrom(ctx)
	if r == nil {
		return nil
	}
	given, _ := url.ParseQuery(r.RawQuery) // a malformed one was refused before
	query, headers := make(map[string]any, len(given)), make(map[string]any, len(r.Header))
	for name, values := range given {
		items := make([]any, len(values))
		for i, value := range values {
			items[i] = value
		}
		query[name] = items
	}
	for name, values := range r.Header {
		if name = strings.ToLower(name); !SecretHeader(name) {
			headers[name] = strings.Join(values, ", ")
		}
	}
	return map[string]any{"method": r.Method, "query": query, "headers": headers, "remoteAddr": r.RemoteAddr}
}

// RetryAfter returns how long a reply whose header Retry-After has this text asks to wait
// before a retry, a week at most, and whether it says so at all.
func RetryAfter(text string, now time.Time) (wait time.Duration, asked bool) {
	const longest = 7 * 24 * time.Hour
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range, it is the largest number
		return min(time.Duration(seconds)*time.Second, longest), true
	}
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, text); err == nil {
			return min(max(0, at.Sub(now)), longest), true
		}
	}
	return 0, false
}
