// Package snapshot moves whole streams between an engine and a backup: take.go
// writes them while the engine runs, restore.go makes them on an engine that
// has none.
//
// Package jetstream decides which streams there are and in which order they are
// taken; package backup defines the file.
package snapshot

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/stretch"
	"sluice/value"
)

const (
	chunkSize   = 256 << 10
	chunkWindow = 4 << 20 // bytes sent and not acknowledged yet

	// chunkTimeout is how long the engine may be silent. It gives up after 5
	// seconds itself, if nobody takes what it sends.
	chunkTimeout = 30 * time.Second

	// snapshotAttempts: a cluster that changes its leaders fails, or does not reply.
	snapshotAttempts = 5
)

// An apiReply is what all replies of the engine's API have in common.
type apiReply struct {
	Error *jetstream.APIError `json:"error"`
}

func (r *apiReply) failure() error {
	if r.Error == nil {
		return nil
	}
	return r.Error
}

// An extent is the part of a stream's state that a restore compares.
type extent struct {
	LastSeq uint64 `json:"last_seq"`
}

// ask sends a request to the engine's API that its client has no function for.
func ask(ctx context.Context, conn *nats.Conn, subject string, request any, reply interface{ failure() error }) error {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(stream.AskTimeout))
	defer cancel()
	content, err := value.Marshal(request)
	if err != nil {
		return err
	}
	msg, err := conn.RequestWithContext(ctx, subject, content)
	if err != nil {
		return stream.NoAnswer(err)
	}
	if err := json.Unmarshal(msg.Data, reply); err != nil {
		return err
	}
	return reply.failure()
}
