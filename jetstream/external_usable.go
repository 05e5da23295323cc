package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/stretch"
)

var (
	errUnreachable  = errors.New("the engine is not reachable")
	errNoJetStream  = errors.New("the engine has no JetStream")
	errSmallPayload = errors.New("the engine's max_payload is too small")
)

func (x *remote) usable(ctx context.Context) error {
	h := x.host
	if !h.Link.Up() {
		return errUnreachable
	}
	if got := h.Conn.MaxPayload(); got < stream.MaxMessage {
		return fmt.Errorf("%w: %d bytes", errSmallPayload, got)
	}
	// A cluster without a leader does not reply: ask again soon.
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(2*time.Second))
	defer cancel()
	_, err := h.JS.AccountInfo(ctx)
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: %w", errNoJetStream, err)
	}
	return err
}

// explain says what is wrong with an external engine and what to do about it.
// Readers of /readyz see it, so it names no address.
func explain(err error, nc *nats.Conn) string {
	switch {
	case errors.Is(err, errSmallPayload):
		return fmt.Sprintf("the engine's max_payload is %d bytes; set it to %d (8MB) or more", nc.MaxPayload(),
			stream.MaxMessage)
	case errors.Is(err, errNoJetStream):
		return "the engine has no JetStream for this account; enable it there"
	case errors.Is(err, errUnreachable), errors.Is(err, nats.ErrConnectionClosed):
		return "the engine is not reachable; check the address given with --nats"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return "the engine does not answer in time"
	case stream.LimitOf(err) != "":
		return stream.LimitOf(err)
	default:
		return "the engine can't be set up; the log has the cause"
	}
}
