package step

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
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

// keep keeps what is open for each address that secrets have.
func keep[T any](c *client, open func(address) (T, error), end func(T)) *outward.Kept[T] {
	return &outward.Kept[T]{
		Open: func(text string) (T, error) { return open(readAddress(text)) }, Close: end,
		Idle: cmp.Or(c.Idle, targetIdle), Most: maxTargets,
	}
}

// A hop is a call of a server that speaks no HTTP.
type hop struct {
	verb, secret string // the secret is the address
	timeout      *time.Duration
	sent         any
	frail        bool // what is open is of no use after a failure
}

// reach makes a hop in a span, within its time, and notes what was sent and what came back.
func reach[T, R any](ctx context.Context, c *client, targets *outward.Kept[T], h hop,
	do func(context.Context, T, *url.URL) (R, error)) (got R, err error) {
	run := sluice.RunFrom(ctx)
	timeout, err := timeoutOf(h.timeout)
	if err != nil {
		return got, err
	}
	text, err := run.Secret(ctx, h.secret)
	if err != nil {
		return got, err
	}
	a := readAddress(text)
	run.Hide(a.password)
	request, _ := value.AppendJSON([]byte("\n"), h.sent, maxNoted) // it has no headers
	seen := sluice.Exchange{Method: h.verb, URL: a.bare.String(), Request: strings.ToValidUTF8(string(request), "")}
	if run.Recorded != nil {
		seen, err := run.Recorded(ctx, seen)
		if err == nil && json.Unmarshal([]byte(seen.Response), &got) != nil {
			err = sluice.NotRecorded()
		}
		return got, err
	}
	target, leave, err := targets.Take(text)
	if fault, ok := errors.AsType[outward.SecretError](err); ok {
		return got, badSecret(h.secret, fault.Fault)
	} else if err != nil {
		return got, away(a.bare, err)
	}
	span := sluice.Span{
		Name: h.verb, Kind: sluice.ClientSpan,
		SpanFacts: sluice.SpanFacts{Server: a.bare.Hostname(), Port: a.bare.Port()},
	}
	err = c.Spans.Do(ctx, span, func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		got, err = do(within, target, a.bare)
		if err != nil && ctx.Err() != nil {
			err = interrupted(ctx)
		}
		return err
	})
	leave(h.frail && err != nil && !sluice.Invalid.Is(err))
	note(run, seen, a.bare, got, err)
	return got, err
}

// note notes how a hop went.
func note(run *sluice.Run, seen sluice.Exchange, target *url.URL, got any, err error) {
	switch {
	case err == nil:
		response, _ := value.Marshal(got)
		response = response[:min(len(response), maxNoted)]
		seen.StatusCode, seen.Response = http.StatusOK, "\n"+strings.ToValidUTF8(string(response), "")
	case !sluice.Unavailable.Is(err):
		seen.StatusCode, seen.Response = http.StatusBadRequest, err.Error()
	}
	run.NoteHTTP(seen)
	run.NoteTarget(target, seen.StatusCode != 0)
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
	case errors.Is(err, io.EOF):
		why = "it hangs up, as servers do that want TLS, or another user or password"
	}
	return sluice.Errorf(sluice.CodeTargetAway, "%q gives no answer: %s.", target.Hostname(), why).Because(err)
}

// An address is the URL of a server that speaks no HTTP. Its zero value is that of a text that is
// none.
type address struct {
	text       string
	full, bare *url.URL // with the first host; bare without credentials and query
	password   string
	hosts      []string // with their ports
}

// readAddress reads a URL, which may have several hosts. Package url knows only one.
func readAddress(text string) address {
	scheme, rest, _ := strings.Cut(text, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	begin := strings.LastIndexByte(rest[:end], '@') + 1
	hosts := strings.Split(rest[begin:end], ",")
	full, err := url.Parse(scheme + "://" + rest[:begin] + hosts[0] + rest[end:])
	if err != nil || full.Hostname() == "" {
		return address{full: &url.URL{}, bare: &url.URL{}}
	}
	password, _ := full.User.Password()
	return address{text, full, &url.URL{Scheme: full.Scheme, Host: full.Host, Path: full.Path}, password, hosts}
}

func badSecret(name, fault string) error {
	return sluice.Errorf(sluice.CodeAuthFailed, "The secret %q %s.", name, fault).OfKind(sluice.Invalid)
}
