package webhook

import (
	"context"
	"time"

	"sluice"
)

// handshakeRetry is when a sender may try its handshake again.
const handshakeRetry = 5 * time.Second

// Learn stores a signing secret that came with a handshake. One that is there
// already stays: Conflict if it is another one.
func (s *Store) Learn(ctx context.Context, token, secret string) error {
	_, err := s.records.Change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
		if before == nil {
			return nil, noWebhook("uuid")
		}
		known := settingsOf(before)
		if known.Signing != "" && known.Signing != secret {
			return nil, sluice.Errorf(sluice.CodeSigningSecretKnown, "The webhook has a signing secret already.")
		}
		known.Signing = secret
		after := *before
		after.Updated = later(time.Now().UTC().Truncate(time.Millisecond), before)
		after.Trust = known.trust()
		return &after, nil
	})
	return err
}
