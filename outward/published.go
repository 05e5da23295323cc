package outward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"sluice/limit"
)

// Bounds of what is kept.
const (
	maxAddresses = 256  // whose content is kept
	maxDomains   = 1024 // whose limits are kept
	limitKept    = 24 * time.Hour
	maxQuoted    = 200 // bytes that are logged of another answer
)

// PublishOptions are what Published needs.
type PublishOptions[T any] struct {
	Client  *http.Client
	Read    func(content []byte) (T, error) // what is kept of a reply
	Longest int64                           // bytes of a reply
	Every   time.Duration                   // an address of a domain is asked for so often,
	Burst   int                             // and this often at once
	Kept    time.Duration                   // nobody wants older content
	Now     func() time.Time                // nil: time.Now
}

// Published keeps what others publish at addresses, such as their public keys. An address is
// asked only once at a time, and not too often, since strangers choose some of the addresses.
type Published[T any] struct {
	PublishOptions[T]

	flight singleflight.Group
	kept   *limit.Cache[string, published[T]]
	limits *limit.Cache[string, *rate.Limiter] // by domain: forged calls of one must not starve the others
}

type published[T any] struct {
	content T
	at      time.Time
}

// NewPublished returns a Published that has nothing yet.
func NewPublished[T any](o PublishOptions[T]) *Published[T] {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Published[T]{
		PublishOptions: o,
		kept:           limit.NewCache[string, published[T]](maxAddresses),
		limits:         limit.NewCache[string, *rate.Limiter](maxDomains),
	}
}

// TooOftenError is the error of an address that is asked for too often.
type TooOftenError struct{ Wait time.Duration }

func (TooOftenError) Error() string { return "keys are asked for too often" }

// Get returns the content of an address, not older than maxAge; a negative one means that the
// address is asked in any case. What stands behind a # is sent there as JSON, by POST. Once ctx
// has ended, nobody is asked: what is known counts.
func (p *Published[T]) Get(ctx context.Context, address string, maxAge time.Duration) (T, error) {
	if content, age, ok := p.Last(address); ok && age <= maxAge {
		return content, nil
	}
	if err := ctx.Err(); err != nil {
		return *new(T), err
	}
	return Share(ctx, &p.flight, address, func(ctx context.Context) (T, error) {
		if content, age, ok := p.Last(address); ok && age <= maxAge {
			return content, nil // another call has just fetched it
		}
		if wait := p.wait(address); wait > 0 {
			return *new(T), TooOftenError{wait}
		}
		return p.fetch(ctx, address)
	})
}

// Last returns what was last read at an address, and how long ago.
func (p *Published[T]) Last(address string) (content T, age time.Duration, ok bool) {
	now := p.Now()
	k, ok := p.kept.Get(address, now)
	return k.content, now.Sub(k.at), ok
}

// wait asks for one more request to the domain of an address, and returns how long that has to
// wait. Callers may choose hosts within some domains.
func (p *Published[T]) wait(address string) time.Duration {
	domain := ""
	if u, err := url.Parse(address); err == nil {
		labels := strings.Split(u.Hostname(), ".")
		domain = strings.Join(labels[max(0, len(labels)-2):], ".")
	}
	now := p.Now()
	var limiter *rate.Limiter
	p.limits.Change(domain, now, func(known *rate.Limiter) (*rate.Limiter, time.Time) {
		if limiter = known; limiter == nil {
			limiter = rate.NewLimiter(rate.Every(p.Every), p.Burst)
		}
		return limiter, now.Add(limitKept)
	})
	turn := limiter.ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait > 0 {
		turn.CancelAt(now)
	}
	return wait
}

func (p *Published[T]) fetch(ctx context.Context, address string) (content T, err error) {
	plain, sent, asks := strings.Cut(address, "#")
	method := http.MethodGet
	if asks {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, plain, strings.NewReader(sent))
	if err != nil {
		return content, err
	}
	if asks {
		request.Header.Set("Content-Type", "application/json")
	}
	//nolint:bodyclose // it is read and closed
	response, reply, err := Do(p.Client, request, p.Longest)
	switch {
	case errors.Is(err, limit.ErrTooLong), err == nil && response.StatusCode != http.StatusOK:
		return content, fmt.Errorf("%s %s: %s with %d bytes, %q",
			method, plain, response.Status, len(reply), reply[:min(len(reply), maxQuoted)])
	case err != nil:
		return content, err
	}
	if content, err = p.Read(reply); err == nil {
		now := p.Now()
		p.kept.Put(address, published[T]{content, now}, now.Add(p.Kept))
	}
	return content, err
}
