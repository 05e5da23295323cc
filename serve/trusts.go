package serve

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sluice"
	"sluice/sender"
	"sluice/step"
	"sluice/webhook"
)

// newTrusts returns the checks on calls of webhooks. They fetch what senders publish through
// the guarded transport that pipelines use.
func (s *Server) newTrusts(secrets *step.Secrets) *webhook.Trusts {
	transport := s.opts.SenderTransport
	if transport == nil {
		transport = step.GuardedTransport(s.cfg.HTTPAllow)
	}
	return webhook.NewTrusts(webhook.TrustOptions{
		Secret: func(ctx context.Context, name string) (string, error) {
			if sluice.UserFrom(ctx).Name == "" { // a call needs it; users only look
				return secrets.Use(ctx, name)
			}
			return secrets.Reveal(ctx, name)
		},
		Keys:  sender.NewFetcher(transport),
		Fetch: confirm(transport),
		Log:   s.opts.Log,

		ClientCertificates: s.certificateSource(),
	})
}

// certificateSource returns where the certificates of callers are. A proxy that is told to
// pass them on is the client of our own HTTPS.
func (s *Server) certificateSource() webhook.CertificateSource {
	switch {
	case s.cfg.ClientCertificateHeader != "":
		return webhook.CertificateSource(http.CanonicalHeaderKey(s.cfg.ClientCertificateHeader))
	case s.certificate != nil:
		return webhook.FromConnection
	}
	return webhook.NoCertificates
}

// confirmTimeout bounds how long a sender may take to confirm a handshake.
const confirmTimeout = 5 * time.Second

// confirm returns a function that fetches a handshake's confirmation URL.
func confirm(transport http.RoundTripper) func(ctx context.Context, address string) error {
	client := &http.Client{
		Transport:     transport,
		Timeout:       confirmTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, address string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("the sender answers %s", response.Status)
		}
		return nil
	}
}
