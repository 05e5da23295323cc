package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// connectExternal connects to an external server or cluster, now or later.
func connectExternal(opts Options) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("sluice"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectBufSize(-1), // a write without a connection fails at once
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				opts.Log.Warn("The connection to the engine is lost; reconnecting.", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			opts.Log.Info("Connected to the engine again.", "server", nc.ConnectedServerName())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			opts.Log.Warn("The engine reports a problem.", "error", err)
		}),
	}
	if opts.Credentials != "" {
		options = append(options, nats.UserCredentials(opts.Credentials))
	}
	return nats.Connect(opts.URL, options...)
}

var (
	errUnreachable  = errors.New("the engine is not reachable")
	errNoJetStream  = errors.New("the engine has no JetStream")
	errSmallPayload = errors.New("the engine's max_payload is too small")
)

// checkExternal checks whether an external engine can serve at all.
func checkExternal(ctx context.Context, h *stream.Host) error {
	if h.Embedded {
		return nil
	}
	if !h.Conn.IsConnected() {
		return errUnreachable
	}
	if got := h.Conn.MaxPayload(); got < maxMessage {
		return fmt.Errorf("%w: %d bytes", errSmallPayload, got)
	}
	// A cluster without a leader does not answer: ask again soon.
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := h.JS.AccountInfo(ctx)
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: %w", errNoJetStream, err)
	}
	return err
}

// explain says what is wrong with an external engine and what to do about it.
// Readers of /readyz see it, so it names no address.
func explain(err error, nc *nats.Conn) string {
	switch {
	case errors.Is(err, errSmallPayload):
		return fmt.Sprintf("the engine's max_payload is %d bytes; set it to %d (8MB) or more", nc.MaxPayload(), maxMessage)
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
