package record

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/stream"
	"sluice/seal"
	"sluice/value"
)

// Generations says which generation of the buckets counts.
//
// A move makes a new generation: it copies the records to buckets of other names,
// says with a single write that those count, and deletes the old buckets. So a move
// that is killed leaves one whole generation, and if several nodes move at the same
// time one wins.
type Generations struct {
	Host    *stream.Host
	Buckets []string // names of all buckets

	// Box returns the box that seals the records. If sealed is true there are records
	// already: the key must be the one that they were sealed with.
	Box func(sealed bool) (*seal.Box, error)

	// Kept is the state as Generation.State returned it, kept apart from the engine's
	// files; nil if there is none. Damaged is called when it was needed.
	Kept    []byte
	Damaged func(text string)

	// Progress is called with each step of a move; it may be nil.
	Progress func(step string)
}

// checkName is what the check value is sealed for.
const checkName = "check"

// A state says which generation counts. It has a stream of its own: a bucket may be
// read from a replica that is behind.
type state struct {
	Format     int      `json:"format,omitempty"` // of all that is stored; 0: the first that had a state
	Generation string   `json:"generation"`
	Check      []byte   `json:"check"`          // opens with the key of the generation
	Drop       []string `json:"drop,omitempty"` // streams that no longer count

	revision uint64
}

// Current returns the generation that counts, and begins the first one if there is
// none. If its key is not the given one, the error has seal.ErrOtherKey in its
// chain, and nothing was changed.
func (g *Generations) Current(ctx context.Context) (Generation, error) {
	s, err := g.load(ctx)
	if err != nil {
		return Generation{}, err
	}
	if s == nil {
		begin := g.begin
		if g.Kept != nil {
			begin = g.restore
		}
		if err := begin(ctx); err != nil {
			return Generation{}, err
		}
		if s, err = g.load(ctx); err != nil {
			return Generation{}, err
		}
		if s == nil {
			return Generation{}, errors.New("the state of the records is gone")
		}
	}
	box, err := g.Box(true)
	if err != nil {
		return Generation{}, err
	}
	if !s.opensWith(box) {
		return Generation{}, otherKey()
	}
	if err := g.clean(ctx, s); stream.WasConflict(err) {
		return g.Current(ctx) // another node has just changed it
	} else if err != nil {
		return Generation{}, err
	}
	return Generation{s.Generation, box, s.Check}, nil
}

// restore stores the state that the disk has lost from its copy. A new first
// generation would make all records leftovers.
func (g *Generations) restore(ctx context.Context) error {
	var s state
	if err := json.Unmarshal(g.Kept, &s); err != nil {
		return fmt.Errorf("kept state of the records: %w", err)
	}
	g.Host.Log.Error("The disk has lost what says which records count; a copy is stored in its place.")
	g.Damaged("what says which records count was lost; a copy has taken its place")
	err := g.save(ctx, &s, 0)
	if stream.WasConflict(err) {
		return nil // the engine knows the state again
	}
	return err
}

// State returns the state in which the generation counts, to be kept elsewhere.
func (g Generation) State() ([]byte, error) {
	return value.Marshal(state{Generation: g.id, Check: g.check})
}

// Rekey moves all records to another key. If they are sealed with it already, it
// only cleans up after a move that was interrupted.
func (g *Generations) Rekey(ctx context.Context, box *seal.Box) error {
	s, err := g.load(ctx)
	if err != nil {
		return err
	}
	if s != nil && s.opensWith(box) {
		return g.clean(ctx, s)
	}
	from, err := g.Current(ctx)
	if err != nil {
		return err
	}
	if s, err = g.load(ctx); err != nil {
		return err
	}
	if err := g.move(ctx, from, newGeneration(box), s.revision); err != nil {
		return err
	}
	if s, err = g.load(ctx); err != nil {
		return err
	}
	return g.clean(ctx, s)
}

// begin makes the first generation. Another node may be faster.
func (g *Generations) begin(ctx context.Context) error {
	if err := g.refuseEarlier(ctx); err != nil {
		return err
	}
	box, err := g.Box(false)
	if err != nil {
		return err
	}
	err = g.save(ctx, newGeneration(box).counts(nil), 0)
	if stream.WasConflict(err) {
		return nil
	}
	return err
}

// refuseEarlier refuses an engine on which version 0.1 has stored records. On an external
// engine other programs may have buckets of the same names: version 0.1 is known by the key
// that it made before anything else.
func (g *Generations) refuseEarlier(ctx context.Context) error {
	keys, err := g.Host.JS.KeyValue(ctx, stream.Keys)
	if err == nil {
		_, err = keys.Get(ctx, CorrelationKey)
	}
	switch {
	case err == nil:
		return sluice.Errorf(sluice.CodeEngineOlder,
			"Version 0.1 has stored its records here, which this program can't read: give it an engine of its own. Nothing was changed.")
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrKeyNotFound):
		return nil
	}
	return err
}

func newGeneration(box *seal.Box) Generation {
	id := make([]byte, 6)
	_, _ = rand.Read(id) // never fails
	g := Generation{id: hex.EncodeToString(id), box: box}
	g.check = box.Seal(checkName, []byte(g.id))
	return g
}

// counts returns the state in which the generation counts, and some streams no longer do.
func (g Generation) counts(drop []string) *state {
	return &state{Format: durable.Format, Generation: g.id, Check: g.check, Drop: drop}
}

func (s *state) opensWith(box *seal.Box) bool {
	id, err := box.Open(checkName, s.Check)
	return err == nil && string(id) == s.Generation
}

// load returns the state, nil if there is none.
func (g *Generations) load(ctx context.Context) (*state, error) {
	found, err := g.Host.JS.Stream(ctx, stream.Sealed)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	msg, err := found.GetLastMsgForSubject(ctx, stream.SealedSubject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &state{revision: msg.Sequence}
	if err := json.Unmarshal(msg.Data, s); err != nil {
		return nil, fmt.Errorf("state of the records: %w", err)
	}
	if s.Format > durable.Format {
		return nil, sluice.Errorf(sluice.CodeEngineNewer,
			"What is stored here has format %d, this program knows %d: a newer version of sluice wrote it; start that version, or restore a backup from before the upgrade elsewhere. Nothing was changed.", s.Format, durable.Format)
	}
	return s, nil
}

// save stores the state durably, if the stored one still has that revision, 0 for
// none.
func (g *Generations) save(ctx context.Context, s *state, revision uint64) error {
	_, err := g.Host.OpenStream(ctx, g.Host.JS, g.Host.Config(jetstream.StreamConfig{
		Name:              stream.Sealed,
		Subjects:          []string{stream.SealedSubject},
		MaxMsgsPerSubject: 2, // the one before stays until this one is synced
	}))
	if err != nil {
		return err
	}
	msg := nats.NewMsg(stream.SealedSubject)
	if msg.Data, err = value.Marshal(s); err != nil {
		return err
	}
	ack, err := g.Host.JS.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(revision))
	if err != nil {
		return err
	}
	s.revision = ack.Sequence
	return g.Host.SyncStream(stream.Sealed)
}

// reportf reports a step of a move.
func (g *Generations) reportf(format string, args ...any) {
	if g.Progress != nil {
		g.Progress(fmt.Sprintf(format, args...))
	}
}

func otherKey() error {
	return sluice.Errorf(sluice.CodeSecretKeyOther,
		"What is stored here was sealed with another key than the one given; start with that key (SLUICE_SECRET_KEY or --secret-key-file). Nothing was changed.").Because(seal.ErrOtherKey)
}

// A Generation is all buckets that are sealed with one key. Of a record the engine
// sees only a keyed hash of its key, and sealed bytes: nobody can read a copy of its
// files without the key.
type Generation struct {
	id    string // the names of the buckets end in it
	box   *seal.Box
	check []byte // opens with its key
}

// stored is a record with its key, which the engine's key does not tell. A deleted
// record is nil.
type stored[T any] struct {
	key    string
	record *T
}

// bucket returns the name by which the engine knows a bucket.
func (g Generation) bucket(name string) string { return name + "-" + g.id }

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

// sealRecord returns what the engine stores under its own key: the length of the
// record's key, that key, and the record as JSON, sealed.
func sealRecord[T any](g Generation, bucket, engineKey string, s stored[T]) ([]byte, error) {
	content := append(binary.AppendUvarint(nil, uint64(len(s.key))), s.key...)
	if s.record != nil {
		document, err := value.Marshal(s.record)
		if err != nil {
			return nil, err
		}
		content = append(content, document...)
	}
	return g.box.Seal(bucket+"/"+engineKey, content), nil
}

// openRecord opens what sealRecord has sealed.
func openRecord[T any](g Generation, bucket, engineKey string, sealed []byte) (s stored[T], err error) {
	content, err := g.box.Open(bucket+"/"+engineKey, sealed)
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
