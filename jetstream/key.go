package jetstream

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// correlationIDs returns the correlation ids that all nodes share. The first node that knows
// their second form notes the last event of the first form.
func (e *Engine) correlationIDs(ctx context.Context) (ids correlation.IDs, err error) {
	key, err := sharedKey(ctx, e.keys, record.CorrelationKey)
	if err != nil {
		return ids, err
	}
	if e.keys.Copy(record.CorrelationKey).FirstForm == nil {
		last, err := lastEvent(ctx, e.host)
		if err != nil {
			return ids, err
		}
		_, err = e.keys.ChangeEarly(ctx, record.CorrelationKey, func(before *record.Key, _ map[string]*record.Key) (*record.Key, error) {
			if before.FirstForm != nil {
				return nil, sluice.ErrUnchanged
			}
			return &record.Key{Key: before.Key, FirstForm: &last}, nil
		})
		if err != nil && !errors.Is(err, sluice.ErrUnchanged) {
			return ids, err
		}
	}
	e.keyPrint = fingerprint(key)
	return correlation.NewIDs(key, *e.keys.Copy(record.CorrelationKey).FirstForm), nil
}

// lastEvent returns the sequence of the last event, 0 if there are none.
func lastEvent(ctx context.Context, h *stream.Host) (uint64, error) {
	events, err := h.JS.Stream(ctx, stream.Events)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return events.CachedInfo().State.LastSeq, nil
}

// sharedKey returns a key that all nodes share. The first node makes it.
func sharedKey(ctx context.Context, keys *record.Bucket[record.Key], name string) ([]byte, error) {
	_, err := keys.ChangeEarly(ctx, name, func(before *record.Key, _ map[string]*record.Key) (*record.Key, error) {
		if before != nil {
			return nil, sluice.ErrUnchanged
		}
		fresh := make([]byte, 32)
		_, _ = rand.Read(fresh) // never fails
		return &record.Key{Key: fresh}, nil
	})
	if err != nil && !errors.Is(err, sluice.ErrUnchanged) {
		return nil, err
	}
	return keys.Copy(name).Key, nil
}

// fingerprint returns a short text that tells keys apart and does not show them.
func fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}
