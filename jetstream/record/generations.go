package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
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

// Current returns the generation that counts, and begins the first one if there is
// none. If its key is not the given one, the error has seal.ErrOtherKey in its
// chain, and nothing was changed.
func (g *Generations) Current(ctx context.Context) (current Generation, err error) {
	s, err := g.load(ctx)
	if s == nil && err == nil {
		if err = g.begin(ctx); err == nil {
			s, err = g.load(ctx)
		}
	}
	if err != nil {
		return current, err
	}
	if s == nil {
		return current, errors.New("the state of the records is gone")
	}
	box, err := g.Box(true)
	if err != nil {
		return current, err
	}
	if !s.opensWith(box) {
		return current, sluice.CodeSecretKeyOther.Errorf(
			"What is stored here was sealed with another key than the one given; start with that key " +
				"(SLUICE_SECRET_KEY or --secret-key-file). Nothing was changed.").Because(seal.ErrOtherKey)
	}
	if err := g.clean(ctx, s); stream.WasConflict(err) {
		return g.Current(ctx) // another node has just changed it
	} else if err != nil {
		return current, err
	}
	return Generation{s.Generation, box, s.Check}, nil
}

// begin stores a state where there is none. Another node may be faster, or the engine knows the state again.
func (g *Generations) begin(ctx context.Context) error {
	initial := g.initial
	if g.Kept != nil {
		initial = g.kept
	}
	s, err := initial(ctx)
	if err == nil {
		err = g.save(ctx, s, 0)
	}
	if stream.WasConflict(err) {
		return nil
	}
	return err
}

// kept returns the copy of the state that the disk has lost. A new first generation would make all
// records leftovers.
func (g *Generations) kept(context.Context) (*state, error) {
	s := new(state)
	if err := json.Unmarshal(g.Kept, s); err != nil {
		return nil, fmt.Errorf("kept state of the records: %w", err)
	}
	g.Host.Log.Error("The disk has lost what says which records count; a copy is stored in its place.")
	g.Damaged("what says which records count was lost; a copy has taken its place")
	return s, nil
}

// initial returns the state in which the first generation counts.
func (g *Generations) initial(ctx context.Context) (*state, error) {
	if err := g.refuseEarlier(ctx); err != nil {
		return nil, err
	}
	box, err := g.Box(false)
	if err != nil {
		return nil, err
	}
	return newGeneration(box).counts(nil), nil
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
	if s, err = g.move(ctx, from, newGeneration(box), s.revision); err != nil {
		return err
	}
	return g.clean(ctx, s)
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
		return sluice.CodeEngineOlder.Errorf(
			"Version 0.1 has stored its records here, which this program can't read: give it an engine of its own. " +
				"Nothing was changed.")
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrKeyNotFound):
		return nil
	}
	return err
}

// reportf reports a step of a move.
func (g *Generations) reportf(format string, args ...any) {
	if g.Progress != nil {
		g.Progress(fmt.Sprintf(format, args...))
	}
}
