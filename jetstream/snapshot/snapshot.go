// Package snapshot moves whole streams between an engine and a backup: take.go
// writes them while the engine goes on, restore.go makes them on an engine that
// has none.
//
// Which streams there are, and in which order they are taken, is package
// jetstream's business; what the file looks like is package backup's.
package snapshot

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/stretch"
)

const (
	chunkSize   = 256 << 10
	chunkWindow = 4 << 20 // chunks that are on their way

	// chunkTimeout is how long the engine may be silent: it gives up itself
	// when nobody takes what it sends for 5 seconds.
	chunkTimeout = 30 * time.Second

	// A cluster that changes its leaders does not answer, or fails.
	snapshotAttempts = 5
)

// An apiAnswer is what all answers of the engine's API have in common.
type apiAnswer struct {
	Error *jetstream.APIError `json:"error"`
}

func (a *apiAnswer) failure() error {
	if a.Error == nil {
		return nil
	}
	return a.Error
}

// ask sends a request to the engine's API, for which its client has no function.
func ask(ctx context.Context, conn *nats.Conn, subject string, request any, answer interface{ failure() error }) error {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(stream.AskTimeout))
	defer cancel()
	content, err := json.Marshal(request)
	if err != nil {
		return err
	}
	reply, err := conn.RequestWithContext(ctx, subject, content)
	if err != nil {
		return stream.NoAnswer(err)
	}
	if err := json.Unmarshal(reply.Data, answer); err != nil {
		return err
	}
	return answer.failure()
}
