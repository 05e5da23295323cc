package record

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
	"sluice/value"
)

// A Generation is all buckets that are sealed with one key. Of a record the engine
// sees only a keyed hash of its key, and sealed bytes: nobody can read a copy of its
// files without the key.
type Generation struct {
	id    string // the names of the buckets end in it
	box   *seal.Box
	check []byte // opens with its key
}

// bucket returns the name by which the engine knows a bucket.
func (g Generation) bucket(name string) string { return name + "-" + g.id }

// subjects is what the subjects of a bucket begin with, before the engine's key of a record.
func (g Generation) subjects(name string) string { return stream.BucketSubjects + g.bucket(name) + "." }

// streams names the streams behind the buckets.
func (g Generation) streams(buckets []string) []string {
	names := make([]string, len(buckets))
	for i, bucket := range buckets {
		names[i] = streamOf(g.bucket(bucket))
	}
	return names
}

// key returns the engine's key of a record.
func (g Generation) key(bucket, key string) string {
	hash := g.box.Hash(bucket + "/" + key)
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// stored is a record with its key, which the engine's key does not tell. A deleted
// record is nil.
type stored[T any] struct {
	key    string
	record *T
}

func newGeneration(box *seal.Box) Generation {
	g := Generation{id: hex.EncodeToString(sluice.RandomBytes(6)), box: box}
	g.check = box.Seal(checkName, []byte(g.id))
	return g
}

// newMessage returns the message that stores a record, or that it is deleted. The engine stores under its own
// key: the length of the record's key, that key, and the record as JSON, sealed.
func newMessage[T any](in Generation, bucket string, s stored[T]) (*nats.Msg, error) {
	engineKey := in.key(bucket, s.key)
	msg := nats.NewMsg(in.subjects(bucket) + engineKey)
	content := append(binary.AppendUvarint(nil, uint64(len(s.key))), s.key...)
	if s.record == nil {
		msg.Header.Set("KV-Operation", "DEL")
	} else {
		document, err := value.Marshal(s.record)
		if err != nil {
			return nil, err
		}
		content = append(content, document...)
	}
	msg.Data = in.box.Seal(bucket+"/"+engineKey, content)
	return msg, nil
}

// openMessage returns the record in a message of a bucket, which newMessage has made.
func openMessage[T any](g Generation, bucket string, msg jetstream.Msg) (s stored[T], err error) {
	engineKey := strings.TrimPrefix(msg.Subject(), g.subjects(bucket))
	content, err := g.box.Open(bucket+"/"+engineKey, msg.Data())
	if err != nil {
		return s, err
	}
	length, size := binary.Uvarint(content)
	if size <= 0 || length > uint64(len(content)-size) {
		return s, errors.New("the record has no key")
	}
	s.key = string(content[size : size+int(length)])
	document := content[size+int(length):]
	if len(document) == 0 {
		return s, nil
	}
	s.record = new(T)
	return s, json.Unmarshal(document, s.record)
}

// A Key is a key that all nodes share.
type Key struct {
	Key []byte `json:"key"`
}

// CorrelationKey is the name of the key of the correlation ids.
const CorrelationKey = "correlation"
