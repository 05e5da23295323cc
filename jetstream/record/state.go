package record

import (
	"context"
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
	msg, err := stream.Found(found.GetLastMsgForSubject(ctx, stream.SealedSubject))
	if msg == nil || err != nil {
		return nil, err
	}
	s := &state{revision: msg.Sequence}
	if err := json.Unmarshal(msg.Data, s); err != nil {
		return nil, fmt.Errorf("state of the records: %w", err)
	}
	if s.Format > durable.Format {
		return nil, sluice.CodeEngineNewer.Errorf(
			"What is stored here has format %d, this program knows %d: a newer version of sluice wrote it; start "+
				"that version, or restore a backup from before the upgrade elsewhere. Nothing was changed.", s.Format,
			durable.Format)
	}
	return s, nil
}

// save stores the state durably, if the stored one still has that revision, 0 for
// none.
func (g *Generations) save(ctx context.Context, s *state, revision uint64) error {
	_, err := g.Host.OpenStream(ctx, g.Host.JS, jetstream.StreamConfig{
		Name:              stream.Sealed,
		Subjects:          []string{stream.SealedSubject},
		MaxMsgsPerSubject: 2, // the one before stays until this one is synced
	})
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

// State returns the state in which the generation counts, to be kept elsewhere.
func (g Generation) State() ([]byte, error) {
	return value.Marshal(state{Generation: g.id, Check: g.check})
}

// counts returns the state in which the generation counts, and some streams no longer do.
func (g Generation) counts(drop []string) *state {
	return &state{Format: durable.Format, Generation: g.id, Check: g.check, Drop: drop}
}
