package record

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
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

func newGeneration(box *seal.Box) Generation {
	g := Generation{id: hex.EncodeToString(sluice.RandomBytes(6)), box: box}
	g.check = box.Seal(checkName, []byte(g.id))
	return g
}

// newMessage returns the message that stores a document, or with nil that there is none any more. The engine
// stores under its own key: the length of the record's key, that key, and the document, sealed.
func newMessage(in Generation, bucket, key string, document []byte) *nats.Msg {
	engineKey := in.key(bucket, key)
	msg := nats.NewMsg(in.subjects(bucket) + engineKey)
	if document == nil {
		msg.Header.Set("KV-Operation", "DEL")
	}
	content := append(binary.AppendUvarint(nil, uint64(len(key))), key...)
	msg.Data = in.box.Seal(bucket+"/"+engineKey, append(content, document...))
	return msg
}

// openMessage returns the key and the document in a message of a bucket, which newMessage has made.
func openMessage(g Generation, bucket string, msg jetstream.Msg) (key string, document []byte, err error) {
	engineKey := strings.TrimPrefix(msg.Subject(), g.subjects(bucket))
	content, err := g.box.Open(bucket+"/"+engineKey, msg.Data())
	if err != nil {
		return "", nil, err
	}
	length, size := binary.Uvarint(content)
	if size <= 0 || length > uint64(len(content)-size) {
		return "", nil, errors.New("the record has no key")
	}
	key, document = string(content[size:size+int(length)]), content[size+int(length):]
	if len(document) == 0 {
		document = nil
	}
	return key, document, nil
}

// A Key is a key that all nodes share.
type Key struct {
	Key []byte `json:"key"`
}

// CorrelationKey is the name of the key of the correlation ids.
const CorrelationKey = "correlation"
