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

// A lossCheck remembers how much was stored, so that a start notices what the disk has lost.
type lossCheck interface {
	// checkKeys reports whether keys are missing, before new ones are made: then the
	// engine must not serve.
	checkKeys(ctx context.Context) (damaged bool, err error)

	// check reports whether so much is missing that the engine must not serve.
	check(ctx context.Context) (damaged bool, err error)

	// write stores how much there is.
	write(ctx context.Context) error

	// forget makes the next start accept the buckets as they are.
	forget() error
}

// noLossCheck is the lossCheck of an external engine, which has to look after its own disks.
type noLossCheck struct{}

func (noLossCheck) checkKeys(context.Context) (damaged bool, err error) { return false, nil }

func (noLossCheck) check(context.Context) (damaged bool, err error) { return false, nil }

func (noLossCheck) write(context.Context) error { return nil }

func (noLossCheck) forget() error { return nil }
