package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// dialExternal connects to a server of an external engine.
func (e *Engine) dialExternal(address string, link *stream.Link, options ...nats.Option) (*nats.Conn, error) {
	options = append(link.Options(), options...)
	options = append(options, userOf(e.opts.URL)...)
	if e.opts.Credentials != "" {
		options = append(options, nats.UserCredentials(e.opts.Credentials))
	}
	return nats.Connect(address, options...)
}

// userOf returns the user that an URL of the engine names: the addresses of further
// servers name none.
func userOf(urls string) []nats.Option {
	first, _, _ := strings.Cut(urls, ",")
	parsed, err := url.Parse(first)
	if err != nil || parsed.User == nil {
		return nil // the client library says what is wrong with it
	}
	if password, ok := parsed.User.Password(); ok {
		return []nats.Option{nats.UserInfo(parsed.User.Username(), password)}
	}
	return []nats.Option{nats.Token(parsed.User.Username())}
}

// connectExternal connects to an external server or cluster, now or later.
func (e *Engine) connectExternal(link *stream.Link) (*nats.Conn, error) {
	nc, err := e.dialExternal(e.opts.URL, link)
	if err == nil && nc.IsConnected() {
		link.Connected() // its handler may tell later
	}
	return nc, err
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
	if !h.Link.Up() {
		return errUnreachable
	}
	if got := h.Conn.MaxPayload(); got < maxMessage {
		return fmt.Errorf("%w: %d bytes", errSmallPayload, got)
	}
	// A cluster without a leader does not answer: ask again soon.
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(2*time.Second))
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

// watchExternal finds out again and again whether an external engine takes
// events, and keeps this node where there is room for it.
func (e *Engine) watchExternal(running context.Context) error {
	if e.host.Embedded {
		return nil
	}
	var servers atomic.Int64
	e.host.WatchWrites(running, func(ctx context.Context) error {
		info, err := e.events.info(ctx) // of the leader that takes events
		if err != nil {
			return err
		}
		if info.Cluster != nil {
			servers.Store(int64(1 + len(info.Cluster.Replicas)))
		}
		if hasQuorum(info.Cluster) && !e.host.Doubtful() {
			return nil
		}
		_, err = e.host.JS.Publish(ctx, probeSubject, nil, jetstream.WithMsgID(rand.Text()))
		return err
	})
	return e.host.Spread(running, func() int { return int(servers.Load()) })
}

// probeSubject is what an event of a probe is stored under, which is no event. As
// long as it is clear without one that events are taken, there is none.
const probeSubject = queue.DirectPrefix + "probe"

// hasQuorum reports whether the leader of a stream has just heard of so many of the
// others that they agree on a write. They say something once a second.
func hasQuorum(cluster *jetstream.ClusterInfo) bool {
	const lately = 1250 * time.Millisecond
	if cluster == nil {
		return true
	}
	heard := 1
	for _, peer := range cluster.Replicas {
		if !peer.Offline && peer.Active < lately {
			heard++
		}
	}
	return 2*heard > 1+len(cluster.Replicas)
}
