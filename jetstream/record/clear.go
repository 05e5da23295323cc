package record

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
	"sluice/value"
)

// clearBuckets are the buckets as version 0.1 stored them: in clear, except for the
// values of secrets, each of which was sealed by itself.
type clearBuckets struct {
	there  bool
	box    *seal.Box
	sealed []clearSecret
}

// A clearSecret is a secret as version 0.1 stored it.
type clearSecret struct {
	Name    string    `json:"name"`
	Sealed  []byte    `json:"sealed"`
	Updated time.Time `json:"updated"`
}

// A Key is a key that all nodes share.
type Key struct {
	Key []byte `json:"key"`

	// FirstForm is the sequence of the last event whose correlation id may have the
	// first form; nil: not known yet.
	FirstForm *uint64 `json:"firstForm,omitempty"`
}

// CorrelationKey is the name of the key of the correlation ids.
const CorrelationKey = "correlation"

// findClear looks for what version 0.1 stored. On an external engine other programs
// may have buckets of the same names: version 0.1 is told by the key that it made
// before anything else.
func findClear(ctx context.Context, h *stream.Host) (*clearBuckets, error) {
	found := new(clearBuckets)
	err := each(ctx, h, "keys", func(entry jetstream.KeyValueEntry) error {
		found.there = found.there || entry.Key() == CorrelationKey
		return nil
	})
	if err != nil || !found.there {
		return found, err
	}
	err = each(ctx, h, "secrets", func(entry jetstream.KeyValueEntry) error {
		var secret clearSecret
		if json.Unmarshal(entry.Value(), &secret) != nil {
			return nil //nolint:nilerr // it is left out later
		}
		found.sealed = append(found.sealed, secret)
		return nil
	})
	return found, err
}

// fits reports whether the key opens a secret, or there are none. Some secrets may
// have been sealed with an earlier key: they are lost anyway.
func (c *clearBuckets) fits() bool {
	for _, secret := range c.sealed {
		if _, err := c.box.Open(secret.Name, secret.Sealed); err == nil {
			return true
		}
	}
	return len(c.sealed) == 0
}

// bucket implements source.
func (c *clearBuckets) bucket(name string) string {
	if !c.there {
		return ""
	}
	return name
}

// read implements source.
func (c *clearBuckets) read(bucket string, entry jetstream.KeyValueEntry) (stored[json.RawMessage], error) {
	key, text := entry.Key(), json.RawMessage(entry.Value())
	var err error
	switch bucket {
	case "webhooks", "floors":
	case "keys":
		text, err = value.Marshal(Key{Key: entry.Value()})
	case "secrets":
		if text, err = c.openSecret(text); err != nil {
			return stored[json.RawMessage]{}, err
		}
		fallthrough
	default:
		var name []byte
		name, err = base64.RawURLEncoding.DecodeString(key)
		key = string(name)
	}
	if err == nil && !json.Valid(text) {
		err = errors.New("it is no JSON")
	}
	return stored[json.RawMessage]{key, &text}, err
}

// openSecret returns a secret as it is stored now: sealed as all records are.
func (c *clearBuckets) openSecret(text []byte) (json.RawMessage, error) {
	var secret clearSecret
	if err := json.Unmarshal(text, &secret); err != nil {
		return nil, err
	}
	opened, err := c.box.Open(secret.Name, secret.Sealed)
	if err != nil {
		return nil, err
	}
	return value.Marshal(sluice.Secret{Name: secret.Name, Value: string(opened), Updated: secret.Updated})
}
