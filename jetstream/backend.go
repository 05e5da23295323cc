package jetstream

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/delivery"
)

// A backend is the server that an Engine uses: embedded in this process (embedded.go), or one or
// several elsewhere (external.go).
type backend interface {
	// connect gives the host its connections.
	connect() error

	// connection returns a further connection.
	connection() (*nats.Conn, error)

	// usable returns nil if it can serve at all.
	usable(ctx context.Context) error

	// once returns what makes one event of a repeated delivery, before the events.
	once(events delivery.Engine) delivery.Once

	// fit completes the configuration of the stream of events.
	fit(ctx context.Context, events *jetstream.StreamConfig) error

	// watch finds out whether it takes events, until running ends.
	watch(running context.Context) error

	// stop ends it, if it is this process's to end.
	stop()
}

// A lossCheck knows how much was stored, so that a start sees what the disk has lost.
type lossCheck interface {
	// checkKeys tells whether keys are missing, before any is made anew: then the
	// engine must not serve.
	checkKeys(ctx context.Context) (damaged bool, err error)

	// check tells whether so much is missing that the engine must not serve.
	check(ctx context.Context) (damaged bool, err error)

	// write writes down how much there is.
	write(ctx context.Context) error

	// forget takes what is in the buckets for all there was.
	forget() error
}

// noLossCheck is that of an external engine: how it loses something is its own affair.
type noLossCheck struct{}

func (noLossCheck) checkKeys(context.Context) (damaged bool, err error) { return false, nil }
func (noLossCheck) check(context.Context) (damaged bool, err error)     { return false, nil }
func (noLossCheck) write(context.Context) error                         { return nil }
func (noLossCheck) forget() error                                       { return nil }
