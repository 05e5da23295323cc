package sender

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"sluice"
	"sluice/limit"
)

// Bounds of a Fetcher.
const (
	maxKeys      = 256            // addresses whose content is kept
	maxDomains   = 1024           // whose limits are kept
	keptFor      = 24 * time.Hour // nobody takes older content
	maxKeySize   = 64 << 10
	maxKeyError  = 200 // bytes that are logged of another answer
	fetchTimeout = 5 * time.Second
	fetchBurst   = 10 // fetches at a time, and one a second
)

// A Fetcher is Keys over HTTP. It caches, fetches an address only once at a
// time, and not too often, since callers choose some of the addresses.
type Fetcher struct {
	client *http.Client
	now    func() time.Time
	flight singleflight.Group
	kept   *limit.Cache[string, fetched]       // by address
	limits *limit.Cache[string, *rate.Limiter] // by domain: forged calls of one sender must not starve the others
}

type fetched struct {
	content []byte
	at      time.Time
}

// NewFetcher returns a fetcher that uses the transport, nil for the usual one.
func NewFetcher(transport http.RoundTripper) *Fetcher {
	return &Fetcher{
		client: &http.Client{
			Transport:     transport,
			Timeout:       fetchTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now:    time.Now,
		kept:   limit.NewCache[string, fetched](maxKeys),
		limits: limit.NewCache[string, *rate.Limiter](maxDomains),
	}
}

// Get implements Keys.
func (f *Fetcher) Get(ctx context.Context, address string, maxAge time.Duration) ([]byte, error) {
	if content, ok := f.known(address, maxAge); ok {
		return content, nil
	}
	content, err, _ := f.flight.Do(address, func() (any, error) {
		if content, ok := f.known(address, maxAge); ok {
			return content, nil // another call has just fetched it
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !f.limitOf(address).AllowN(f.now(), 1) {
			return nil, errors.New("keys are asked for too often")
		}
		return f.fetch(context.WithoutCancel(ctx), address) // others wait for it, too
	})
	if err != nil {
		return nil, sluice.Errorf(sluice.CodeSenderKeysUnavailable, "The sender's public keys can't be read now; try again.").Because(err).After(fetchTimeout)
	}
	return content.([]byte), nil
}

// limitOf returns the limit of an address's domain: callers may choose hosts within some
// domains.
func (f *Fetcher) limitOf(address string) (limiter *rate.Limiter) {
	domain := ""
	if u, err := url.Parse(address); err == nil {
		labels := strings.Split(u.Hostname(), ".")
		domain = strings.Join(labels[max(0, len(labels)-2):], ".")
	}
	now := f.now()
	f.limits.Change(domain, now, func(known *rate.Limiter) (*rate.Limiter, time.Time) {
		if limiter = known; limiter == nil {
			limiter = rate.NewLimiter(1, fetchBurst)
		}
		return limiter, now.Add(keptFor)
	})
	return limiter
}

func (f *Fetcher) known(address string, maxAge time.Duration) ([]byte, bool) {
	now := f.now()
	k, ok := f.kept.Get(address, now)
	return k.content, ok && now.Sub(k.at) <= maxAge
}

func (f *Fetcher) fetch(ctx context.Context, address string) ([]byte, error) {
	plain, sent, asks := strings.Cut(address, "#")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, plain, nil)
	if asks {
		request, err = http.NewRequestWithContext(ctx, http.MethodPost, plain, strings.NewReader(sent))
	}
	if err != nil {
		return nil, err
	}
	if asks {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxKeySize+1))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || len(content) > maxKeySize {
		return nil, fmt.Errorf("%s %s: %s with %d bytes, %q", request.Method, plain, response.Status, len(content), content[:min(len(content), maxKeyError)])
	}
	now := f.now()
	f.kept.Put(address, fetched{content, now}, now.Add(keptFor))
	return content, nil
}

// certificateKey returns the key of a certificate. Each has an address of its own, so it
// never has to be read again.
func certificateKey(ctx context.Context, keys Keys, address string, now time.Time) (*rsa.PublicKey, error) {
	content, err := keys.Get(ctx, address, keptFor)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(derOf(string(content)))
	if err != nil {
		return nil, invalid("What is at %s is no certificate.", address)
	}
	key, ok := certificate.PublicKey.(*rsa.PublicKey)
	if !ok || now.Before(certificate.NotBefore) || now.After(certificate.NotAfter) {
		return nil, invalid("The certificate at %s is not valid now.", address)
	}
	return key, nil
}
