package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/problem"
)

func refusal(a Answer) *sluice.Error {
	if a.Status < http.StatusBadRequest {
		return elsewhere(a)
	}
	var p sluice.Problem
	var oauth struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.Body, &p)     // the body has one of these forms, or another:
	_ = json.Unmarshal(a.Body, &oauth) // then the fields stay empty
	kind := problem.KindOf(a.Status)
	if oauth.Code == string(sluice.CodeInvalidGrant) {
		kind = sluice.Unauthenticated
	}
	wait, _ := sluice.RetryAfter(a.Header.Get("Retry-After"), time.Now()) // 0 if it does not say
	code := cmp.Or(oauth.Code, p.Code, "status-"+strconv.Itoa(a.Status))
	message := cmp.Or(oauth.Description, p.Detail,
		"The server answered "+strconv.Itoa(a.Status)+" "+http.StatusText(a.Status)+"; is there a sluice at this URL?")
	return (&sluice.Error{Kind: kind, Code: code, Message: message}).WithStatus(a.Status).About(p.Parameter).
		InCall(p.TraceID).At(p.Position).After(wait).Detailed(p.Errors)
}

// elsewhere is the error for a redirect, such as a proxy's to HTTPS. It names the
// host, but not the path or query, which may be secret.
func elsewhere(a Answer) *sluice.Error {
	target := "elsewhere"
	if to, err := url.Parse(a.Header.Get("Location")); err == nil && to.Host != "" {
		target = "to " + to.Scheme + "://" + to.Host
	}
	return sluice.CodeRedirected.Errorf("The server leads %s; log in with the URL where sluice is.", target).
		WithStatus(a.Status)
}

// unreachable is the error for a server that does not answer.
func (c *Client) unreachable(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	reason := "does not answer"
	var op *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.As(cause, &lookup):
		reason = "has a name that is not known"
	case errors.As(cause, &op) && op.Op == "dial":
		reason = "can't be reached"
	case strings.Contains(cause.Error(), "tls:"), strings.Contains(cause.Error(), "x509:"):
		reason = fmt.Sprintf("has no certificate that is trusted here (%v; --ca FILE names a private CA)",
			rootOf(cause))
	case strings.Contains(cause.Error(), "server gave HTTP response to HTTPS"):
		reason = "speaks http, not https"
	}
	return sluice.CodeServerUnreachable.Errorf("The server %s %s; check the URL, and that it runs.", c.url,
		reason).Because(cause)
}

func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func usage(format string, args ...any) *sluice.Error {
	return sluice.CodeUsage.Errorf(format, args...)
}
