package jetstream

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
	"sluice/seal"
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

// The names of the keys that messages are sealed with. A print follows that of a spool.
const (
	eventsKey = "events"
	spoolKey  = "spool."
)

// useKeys lets the host open what is sealed, also by nodes that are told to seal when this one
// is not.
func (e *Engine) useKeys(ctx context.Context) error {
	key, err := sharedKey(ctx, e.keys, eventsKey)
	if err != nil {
		return err
	}
	messages, err := seal.NewMessages(key)
	if err != nil {
		return err
	}
	e.host.UseKeys(messages, e.opts.SealEvents)
	if e.spool == nil {
		return nil
	}
	for _, name := range e.keys.Keys(func(*record.Key) bool { return true }) {
		if strings.HasPrefix(name, spoolKey) {
			err = errors.Join(err, e.spool.keys.Learn(e.keys.Copy(name).Key))
		}
	}
	return err
}

// spoolKey returns the key that a spool seals with. The one of events is on the engine, which
// may be away.
func (o Options) spoolKey() ([]byte, error) {
	box, err := o.Box(true)
	if err != nil {
		return nil, err
	}
	return box.Derive(spoolKey)
}

// keepSpoolKey keeps the key of spools before the key that it is made of is replaced: calls may
// still wait in one.
func (e *Engine) keepSpoolKey(ctx context.Context) error {
	generation, err := e.generation(ctx)
	if errors.Is(err, seal.ErrOtherKey) {
		return nil // it was replaced already, by an attempt that was interrupted
	}
	if err != nil {
		return err
	}
	if err := e.keys.SetUp(ctx, ctx, generation); err != nil {
		return err
	}
	key, err := e.opts.spoolKey()
	if err != nil {
		return err
	}
	_, err = e.keys.ChangeEarly(ctx, spoolKey+fingerprint(key), func(*record.Key, map[string]*record.Key) (*record.Key, error) {
		return &record.Key{Key: key}, nil
	})
	return err
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
