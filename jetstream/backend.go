package jetstream

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/delivery"
)

// A backend is the server of an Engine: embedded in this process (embedded.go), or a server
// or cluster elsewhere (external.go).
type backend interface {
	// connect gives the host its connections.
	connect() error

	// connection returns a further connection.
	connection() (*nats.Conn, error)

	// usable returns nil if the server can be used at all.
	usable(ctx context.Context) error

	// once returns what stands before the events and finds repeated deliveries.
	once(events delivery.Engine) delivery.Once

	// fit completes the configuration of the stream of events.
	fit(ctx context.Context, events *jetstream.StreamConfig) error

	// watch checks whether the server takes events, until running ends.
	watch(running context.Context) error

	// stop ends the server, if it is in this process.
	stop()
}
