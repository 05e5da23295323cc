package quarantine

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// catchUp learns of what was stored before.
func (s *Store) catchUp(ctx context.Context, calls *stream.Follower) error {
	for pending := calls.Pending; pending > 0; {
		msg, meta, err := calls.Next(ctx)
		if err != nil {
			return err
		}
		s.note(msg)
		pending = meta.NumPending
	}
	return nil
}

// follow learns of what is stored, here or by other nodes.
func (s *Store) follow(running context.Context, calls *stream.Follower) {
	for {
		msg, _, err := calls.Next(running)
		if err != nil {
			return // the engine stops
		}
		s.note(msg)
	}
}

func (s *Store) note(msg jetstream.Msg) {
	meta := msg.Headers().Get(metaHeader)
	if meta == "" {
		s.known.remove(idOf(msg.Subject()))
		return
	}
	c := &keptCall{subject: msg.Subject()}
	if err := json.Unmarshal([]byte(meta), &c.QuarantinedCall); err != nil {
		s.host.Log.Error("A call in the quarantine can't be read; it is left out.", "error", err)
		return
	}
	size, _ := strconv.Atoi(msg.Headers().Get("Nats-Msg-Size")) // the engine's own
	c.size = len(meta) + size
	s.known.add(c)
}
