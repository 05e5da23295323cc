package step

import (
	"cmp"
	"context"
	"errors"
	"io"
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

// A line is what is open for an address.
type line[T any] struct {
	address

	to T
}

// keep keeps what is open for each address that secrets have.
func keep[T any](c *client, open func(address) (T, error), end func(T)) *outward.Kept[line[T]] {
	return &outward.Kept[line[T]]{
		Open: func(text string) (l line[T], err error) {
			l.address = readAddress(text)
			l.to, err = open(l.address)
			return l, err
		},
		Close: func(l line[T]) { end(l.to) }, Idle: cmp.Or(c.Idle, targetIdle), Most: maxTargets,
	}
}

// A hop is a call of a server that speaks no HTTP.
type hop struct {
	verb, secret string // the secret is the address
	timeout      time.Duration
	sent         any
	frail        bool // what is open is of no use after a failure
}

// seen returns what is noted of a hop before it is made.
func (h hop) seen(target *url.URL) sluice.Exchange {
	return sluice.Exchange{Method: h.verb, URL: target.String(), Request: notedValue(h.sent)}
}

// notedValue writes a value below the headers that there are none of, or the beginning of it.
func notedValue(v any) string {
	text, _ := value.AppendJSON([]byte("\n"), v, maxNoted)
	return strings.ToValidUTF8(string(text), "")
}

// reach makes a hop in a span, within its time, and notes what was sent and what came back.
func reach[T any](ctx context.Context, c *client, lines *outward.Kept[line[T]], h hop,
	do func(context.Context, line[T]) (any, error)) (got any, err error) {
	run := sluice.RunFrom(ctx)
	text, err := run.Secret(ctx, h.secret)
	if err != nil {
		return nil, err
	}
	if run.Recorded != nil {
		seen, err := run.Recorded(ctx, h.seen(readAddress(text).bare))
		if err != nil {
			return nil, err
		}
		if got, err = value.Decode(seen.Response); err != nil {
			err = sluice.NotRecorded()
		}
		return got, err
	}
	to, leave, err := lines.Take(text)
	if fault, ok := errors.AsType[outward.SecretError](err); ok {
		return nil, badSecret(h.secret, fault.Fault)
	} else if err != nil {
		return nil, sluice.CodeTargetAway.Errorf("Too many others are in use.").Because(err)
	}
	run.Hide(to.password)
	span := sluice.Span{
		Name: h.verb, Kind: sluice.ClientSpan,
		SpanFacts: sluice.SpanFacts{Server: to.bare.Hostname(), Port: to.bare.Port()},
	}
	err = c.Spans.Do(ctx, span, func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, cmp.Or(h.timeout, defaultTimeout))
		defer cancel()
		got, err = do(within, to)
		if err != nil && ctx.Err() != nil {
			err = interrupted(ctx)
		}
		return err
	})
	leave(h.frail && err != nil && !sluice.Invalid.Is(err))
	note(run, h.seen(to.bare), to.bare, got, err)
	return got, err
}

// note notes how a hop went.
func note(run *sluice.Run, seen sluice.Exchange, target *url.URL, got any, err error) {
	switch {
	case err == nil:
		seen.StatusCode, seen.Response = http.StatusOK, notedValue(got)
	case !sluice.Unavailable.Is(err):
		seen.StatusCode, seen.Response = http.StatusBadRequest, err.Error()
	}
	run.NoteHTTP(seen)
	run.NoteTarget(target, seen.StatusCode != 0)
}

// away is the error of a server that gave no answer, or none that counts.
func away(target *url.URL, err error) error {
	why := reason(err)
	switch {
	case errors.Is(err, outward.ErrRefused):
		return refusedAddress(target)
	case errors.Is(err, io.EOF):
		why = "it hangs up, as servers do that want TLS, or another user or password"
	}
	return sluice.CodeTargetAway.Errorf("%q gives no answer: %s.", target.Hostname(), why).Because(err)
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
	bare := &url.URL{Scheme: full.Scheme, Host: full.Host, Path: full.Path}
	if bare.String() == text {
		bare.Scheme = "" // the whole secret would not be shown
	}
	return address{text, full, bare, password, hosts}
}

func badSecret(name, fault string) error {
	return sluice.CodeAuthFailed.Errorf("The secret %q %s.", name, fault).OfKind(sluice.Invalid)
}
