package record

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"sluice/seal"
)

// A Generation is all buckets that are sealed with one key. The engine sees of a
// record a keyed hash of its key and sealed bytes: a copy of its files tells
// nothing to whoever doesn't have the key.
type Generation struct {
	id  string // that the names of the buckets end in
	box *seal.Box
}

// stored is a record as it is sealed, with its key: the engine's can't be read
// back. A deleted one has no record.
type stored[T any] struct {
	Key    string `json:"key"`
	Record *T     `json:"record,omitempty"`
}

// bucket gives the name by which the engine knows a bucket.
func (g Generation) bucket(name string) string { return name + "-" + g.id }

// key gives the engine's key of a record.
func (g Generation) key(bucket, key string) string {
	hash := g.box.Hash(bucket + "/" + key)
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// sealRecord gives what the engine is to store under a key of its own.
func sealRecord[T any](g Generation, bucket, engineKey string, s stored[T]) ([]byte, error) {
	content, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return g.box.Seal(bucket+"/"+engineKey, content), nil
}

// openRecord gives back what was sealed for a key of the engine.
func openRecord[T any](g Generation, bucket, engineKey string, sealed []byte) (s stored[T], err error) {
	content, err := g.box.Open(bucket+"/"+engineKey, sealed)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(content, &s); err != nil {
		return s, fmt.Errorf("record: %w", err)
	}
	return s, nil
}
