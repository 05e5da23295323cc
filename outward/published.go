package outward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/sync/singleflight"

	"sluice/limit"
)

// Bounds of what is kept.
const (
	maxAddresses = 256 // whose content is kept
	maxQuoted    = 200 // bytes that are logged of another answer
	maxWaiters   = 32  // callers who wait for one domain: a slow one must not hold up who needs another
	maxWaiting   = 256 // callers who wait for any
)

// PublishOptions are what Published needs.
type PublishOptions[T any] struct {
	Client  *http.Client
	Read    func(content []byte) (T, error) // what is kept of a reply
	Longest int64                           // bytes of a reply
	Every   time.Duration                   // an address of a domain is asked for so often,
	Burst   int                             // and this often at once
	Kept    time.Duration                   // nobody wants older content
	Failed  time.Duration                   // an address that could not be read is not asked for so long
	Now     func() time.Time                // nil: time.Now
}

// Published keeps what others publish at addresses, such as their public keys. An address is
// asked only once at a time, and not too often, since strangers choose some of the addresses.
type Published[T any] struct {
	PublishOptions[T]

	flight  singleflight.Group
	kept    *limit.Cache[string, published[T]]
	failed  *limit.Cache[string, error]
	limits  *limit.Tries  // by domain: forged calls of one must not starve the others
	waiters *limit.Places // by domain
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
		failed:         limit.NewCache[string, error](maxAddresses),
		limits:         limit.NewTries(o.Burst, o.Every),
		waiters:        limit.NewPlaces(maxWaiters, maxWaiting),
	}
}

// TooOftenError is the error of an address that is asked for too often.
type TooOftenError struct{ Wait time.Duration }

func (TooOftenError) Error() string { return "keys are asked for too often" }

// Get returns the content of an address, not older than maxAge; a negative one means that the
// address is asked in any case. What stands behind a # is sent there as JSON, by POST. Once ctx
// has ended, nobody is asked: what is known counts. Content is read anew before it is too old.
func (p *Published[T]) Get(ctx context.Context, address string, maxAge time.Duration) (T, error) {
	content, age, known := p.Last(address)
	if known && age <= maxAge {
		if age > maxAge*3/4 {
			go func() { _, _ = p.share(context.WithoutCancel(ctx), address, maxAge/2) }() // for who asks later
		}
		return content, nil
	}
	if err := ctx.Err(); err != nil {
		return *new(T), err
	}
	if err, failed := p.failed.Get(address, p.Now()); failed {
		return *new(T), err
	}
	leave, err := p.waiters.Enter(domainOf(address))
	if err != nil {
		return *new(T), err
	}
	defer leave()
	return p.share(ctx, address, maxAge)
}

func (p *Published[T]) share(ctx context.Context, address string, maxAge time.Duration) (T, error) {
	return Share(ctx, &p.flight, address, func(ctx context.Context) (T, error) { return p.ask(ctx, address, maxAge) })
}

// ask reads an address, unless another call has just done so.
func (p *Published[T]) ask(ctx context.Context, address string, maxAge time.Duration) (T, error) {
	if content, age, ok := p.Last(address); ok && age <= maxAge {
		return content, nil
	}
	if wait := p.limits.At(domainOf(address), p.Now(), p.Every, time.Duration(p.Burst)*p.Every); wait > 0 {
		return *new(T), TooOftenError{wait}
	}
	content, err := p.fetch(ctx, address)
	if err != nil && p.Failed > 0 {
		now := p.Now()
		p.failed.Put(address, err, now.Add(p.Failed))
	}
	return content, err
}

// Last returns what was last read at an address, and how long ago.
func (p *Published[T]) Last(address string) (content T, age time.Duration, ok bool) {
	now := p.Now()
	k, ok := p.kept.Get(address, now)
	return k.content, now.Sub(k.at), ok
}

// domainOf returns what somebody has registered of the host of an address: callers may choose
// hosts within some domains.
func domainOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname())
	if err != nil { // an address of the network, or a name without a dot
		return u.Hostname()
	}
	return domain
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

// ShareTimeout bounds how long callers who share a reply wait for it.
const ShareTimeout = 10 * time.Second

// Share lets callers with the same request at the same time share one reply. run goes on
// even if the caller who started it gives up, since others may wait, and what it has
// changed elsewhere must be known here.
func Share[V any](
	ctx context.Context, group *singleflight.Group, key string, run func(context.Context) (V, error),
) (V, error) {
	shared := group.DoChan(key, func() (_ any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ShareTimeout)
		defer cancel()
		defer func() {
			if reason := recover(); reason != nil { // in this goroutine it would end the process
				err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
			}
		}()
		return run(ctx)
	})
	var answer singleflight.Result
	select {
	case answer = <-shared:
	case <-ctx.Done():
		answer.Err = ctx.Err()
	}
	value, _ := answer.Val.(V)
	return value, answer.Err
}
