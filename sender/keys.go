package sender

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"net/http"
	"time"

	"sluice"
	"sluice/outward"
)

// Bounds of a Fetcher.
const (
	keptFor      = 24 * time.Hour // nobody takes older content
	maxKeySize   = 64 << 10
	fetchTimeout = 5 * time.Second
	fetchBurst   = 10 // fetches at a time, and one a second
)

// A Fetcher is Keys over HTTP.
type Fetcher struct{ *outward.Published[[]byte] }

// NewFetcher returns a fetcher that uses the transport, nil for the usual one.
func NewFetcher(transport http.RoundTripper) *Fetcher {
	return &Fetcher{outward.NewPublished(outward.PublishOptions[[]byte]{
		Client: outward.Client(transport, fetchTimeout), Longest: maxKeySize,
		Every: time.Second, Burst: fetchBurst, Kept: keptFor, Failed: fetchTimeout,
		Read: func(content []byte) ([]byte, error) { return content, nil },
	})}
}

// Get implements Keys.
func (f *Fetcher) Get(ctx context.Context, address string, maxAge time.Duration) ([]byte, error) {
	content, err := f.Published.Get(ctx, address, maxAge)
	if err != nil {
		return nil, sluice.CodeSenderKeysUnavailable.Errorf(
			"The sender's public keys can't be read now; try again.").Because(err).After(fetchTimeout)
	}
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
