package outward

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
)

const maxRedirects = 5

// carried are the headers that a redirect to another origin keeps. Others may be
// credentials under any name.
var carried = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Svc-Hops", sluice.TraceHeader,
	"Traceparent", "Tracestate", "User-Agent",
}

// A RedirectError says why a redirect was not followed.
type RedirectError string

func (e RedirectError) Error() string { return string(e) }

// Following returns a client that follows a few redirects, and keeps credentials to the first
// origin.
func Following(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return RedirectError("it redirects too often")
	}
	if Fault(next.URL) != "" {
		return RedirectError("it redirects to a URL that is not plain http or https")
	}
	next.Header.Del("Referer") // it would reveal the query to another server
	elsewhere := func(r *http.Request) bool { return !sameOrigin(r.URL, via[0].URL) }
	if elsewhere(next) || slices.ContainsFunc(via, elsewhere) {
		maps.DeleteFunc(next.Header, func(name string, _ []string) bool { return !slices.Contains(carried, name) })
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

// faultOf is Fault for a text.
func faultOf(address string) string {
	target, err := url.Parse(address)
	if err != nil {
		return "can't be read"
	}
	return Fault(target)
}

// Fault says what is wrong with a URL that is to be called, or returns "".
func Fault(target *url.URL) string {
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
