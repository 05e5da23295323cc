package step

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/outward"
	"sluice/value"
)

// Bounds of connections that speak no HTTP.
const (
	maxTargets = 256
	targetIdle = time.Minute
)

// A hop is a call of a server that speaks no HTTP.
type hop struct {
	verb    string
	target  *url.URL // without a user
	timeout *time.Duration
	sent    any
}

// reach makes a hop in a span, within its time, and notes what was sent and what came back.
func reach[T any](ctx context.Context, c *client, h hop, do func(context.Context) (T, error)) (got T, err error) {
	timeout, err := timeoutOf(h.timeout)
	if err != nil {
		return got, err
	}
	span := sluice.Span{
		Name: h.verb, Kind: sluice.ClientSpan,
		SpanFacts: sluice.SpanFacts{Server: h.target.Hostname(), Port: h.target.Port()},
	}
	err = c.Spans.Do(ctx, span, func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		got, err = do(within)
		if err != nil && ctx.Err() != nil {
			err = interrupted(ctx)
		}
		return err
	})
	seen := sluice.Exchange{Method: h.verb, URL: h.target.String(), Request: notedValue(h.sent)}
	switch {
	case err == nil:
		seen.StatusCode, seen.Response = http.StatusOK, notedValue(got)
	case !sluice.Unavailable.Is(err):
		seen.StatusCode, seen.Response = http.StatusBadRequest, err.Error()
	}
	run := sluice.RunFrom(ctx)
	run.NoteHTTP(seen)
	run.NoteTarget(h.target, seen.StatusCode != 0)
	return got, err
}

// notedValue writes a value for the report, below the headers that there are none of.
func notedValue(v any) string {
	text, err := value.Marshal(v)
	if err != nil {
		return ""
	}
	return "\n" + strings.ToValidUTF8(string(text[:min(len(text), maxNoted)]), "")
}

// timeoutOf returns how long a call may take.
func timeoutOf(given *time.Duration) (time.Duration, error) {
	switch {
	case given == nil:
		return defaultTimeout, nil
	case *given == 0:
		return 0, invalid("timeout", "must be more than 0s and at most 5m")
	}
	return *given, nil
}

// away is the error of a server that gave no answer, or none that counts.
func away(target *url.URL, err error) error {
	why := reason(err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, outward.ErrRefused):
		return refusedAddress(target)
	case errors.Is(err, outward.ErrWaiters):
		why = "too many others are in use"
	case ok && timeout.Timeout():
		why = "it took too long"
	}
	return sluice.Errorf(sluice.CodeTargetAway, "%q gives no answer: %s.", target.Hostname(), why).Because(err)
}

// A lent secret is the URL of a server that speaks no HTTP.
type lent struct {
	text       string
	full, bare *url.URL // with the first host; bare without credentials and query
	hosts      []string
}

// lend returns a secret of the run, and hides the password in it.
func lend(ctx context.Context, name string) (l lent, err error) {
	run := sluice.RunFrom(ctx)
	text, err := run.Secret(ctx, name)
	if err != nil {
		return l, err
	}
	address, hosts := splitHosts(text)
	full, err := url.Parse(address)
	if err != nil || full.Hostname() == "" {
		return l, badSecret(name, "must be a URL with a host")
	}
	if password, ok := full.User.Password(); ok {
		run.Hide(password)
	}
	bare := &url.URL{Scheme: full.Scheme, Host: full.Host, Path: full.Path}
	return lent{text, full, bare, hosts}, nil
}

// splitHosts returns the hosts of a URL, and the URL with the first of them only, since package url
// knows no others.
func splitHosts(text string) (first string, hosts []string) {
	scheme, rest, _ := strings.Cut(text, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	begin := strings.LastIndexByte(rest[:end], '@') + 1
	hosts = strings.Split(rest[begin:end], ",")
	return scheme + "://" + rest[:begin] + hosts[0] + rest[end:], hosts
}

func badSecret(name, fault string) error {
	return sluice.Errorf(sluice.CodeAuthFailed, "The secret %q %s.", name, fault).OfKind(sluice.Invalid)
}
