package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/missed"
	"sluice/outward"
	"sluice/sender"
	"sluice/webhook/trust"
)

// newFinder returns what asks senders for calls that were missed.
func (s *Server) newFinder() *missed.Finder {
	return missed.New(missed.Options{
		Webhook:  s.webhooks.WithKey,
		Webhooks: s.webhooks.Asked,
		Journal:  s.engine.Journal,
		Secret:   s.secrets.Reveal,
		Accept:   s.receiver.AcceptFetched,
		Runs:     s.engine.Missed,
		Public:   s.toSenders(),
		Plain:    outward.Only(s.cfg.HTTPAllow).Transport(),
		Log:      s.Log,
		BaseURL:  s.baseURL,
	})
}

// toSenders returns the way to the Internet, with the guard that pipelines have.
func (s *Server) toSenders() http.RoundTripper {
	return cmp.Or(s.SenderTransport, http.RoundTripper(outward.Internet(s.cfg.HTTPAllow).Transport()))
}

// newTrusts returns the checks on calls of webhooks. They fetch what senders publish through
// the guarded transport that pipelines use.
func (s *Server) newTrusts() *trust.Trusts {
	transport := s.toSenders()
	return trust.New(trust.Options{
		Secret: func(ctx context.Context, name string) (string, error) {
			if sluice.UserFrom(ctx).Name == "" { // a call needs it; users only look
				return s.secrets.Use(ctx, name)
			}
			return s.secrets.Reveal(ctx, name)
		},
		Keys:  sender.NewFetcher(transport),
		Fetch: confirm(transport),
		Log:   s.Log,

		Computing:          s.computing,
		ClientCertificates: s.certificateSource(),
	})
}

// certificateSource returns where the certificates of callers are. A proxy that is told to
// pass them on is the client of our own HTTPS.
func (s *Server) certificateSource() trust.CertificateSource {
	switch {
	case s.cfg.ClientCertificateHeader != "":
		return trust.CertificateSource(http.CanonicalHeaderKey(s.cfg.ClientCertificateHeader))
	case s.certificate != nil:
		return trust.FromConnection
	}
	return trust.NoCertificates
}

// Bounds of confirmations: how long a sender may take for one, and how many calls wait for one
// host and for all. Each has a slot for calls meanwhile.
const (
	confirmTimeout = 5 * time.Second
	maxConfirming  = 16
	maxConfirmed   = 128
)

// confirm returns a function that fetches a handshake's confirmation URL.
func confirm(transport http.RoundTripper) func(ctx context.Context, address string) error {
	client := outward.Client(transport, confirmTimeout)
	waiters := limit.NewPlaces(maxConfirming, maxConfirmed)
	return func(ctx context.Context, address string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		leave, err := waiters.Enter(request.URL.Host)
		if err != nil {
			return err
		}
		defer leave()
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
