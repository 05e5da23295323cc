package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/delivery"
	"sluice/jetstream/journal"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// remote is the backend of a server or cluster elsewhere, which several nodes may share.
type remote struct {
	*Engine

	marked *delivery.Marked
}

// useExternal gives the engine a backend elsewhere.
func (e *Engine) useExternal() {
	e.host = stream.NewExternal(e.opts.Log, e.opts.Replicas)
	e.server = &remote{Engine: e}
	e.Description = fmt.Sprintf("external, %d replicas", e.opts.Replicas)
	if !e.opts.SyncsAlways { // its sync_interval can't be seen from here
		e.advice = append(e.advice,
			"durability is the engine's: run it with sync_interval: always, and say so with --nats-sync always")
	}
	if e.opts.Replicas < 3 {
		e.advice = append(e.advice,
			fmt.Sprintf("%d of 3 replicas: losing that one server loses or blocks events; set --nats-replicas 3",
				e.opts.Replicas))
	}
}

func (x *remote) connect() error {
	x.host.Link, x.host.Dial = stream.NewLink(x.opts.Log), x.dial
	conn, err := x.connectBy(x.host.Link)
	if err != nil {
		return err
	}
	return x.host.Connect(conn, conn)
}

func (x *remote) connection() (*nats.Conn, error) { return x.connectBy(stream.NewLink(x.opts.Log)) }

func (x *remote) once(events delivery.Engine) delivery.Once {
	x.marked = delivery.NewMarked(x.host, events)
	return x.marked
}

// fit implements backend: the stream of events also has the markers of deliveries and of
// spooled calls.
func (x *remote) fit(_ context.Context, events *jetstream.StreamConfig) error {
	events.Subjects = append(events.Subjects, stream.DeliveryPrefix+">", stream.SpooledPrefix+">")
	events.Duplicates = stream.WithdrawalWindow
	return nil
}

func (*remote) stop() {}

// dial connects to a server of an external engine.
func (x *remote) dial(address string, link *stream.Link, options ...nats.Option) (*nats.Conn, error) {
	options = append(link.Options(), options...)
	options = append(options, userOf(x.opts.URL)...)
	if x.opts.Credentials != "" {
		options = append(options, nats.UserCredentials(x.opts.Credentials))
	}
	return nats.Connect(address, options...)
}

// userOf returns the user in the engine's URL. The addresses of further servers have none.
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

// connectBy connects to an external server or cluster, now or later.
func (x *remote) connectBy(link *stream.Link) (*nats.Conn, error) {
	nc, err := x.dial(x.opts.URL, link)
	if err == nil && nc.IsConnected() {
		link.Connected() // its handler may be called later
	}
	return nc, err
}

// watch implements backend. It also announces this node to the others.
func (x *remote) watch(running context.Context) error {
	if err := x.nodes.setUp(running); err != nil {
		return err
	}
	x.replicas.watch(running)
	x.host.WatchWrites(running, func(ctx context.Context) error {
		info, err := x.Stored.stream.Info(ctx) // of the leader that takes events
		if err != nil {
			return err
		}
		if info.Cluster != nil {
			x.nodes.servers.Store(int64(1 + len(info.Cluster.Replicas)))
		}
		if hasQuorum(info.Cluster) && !x.host.Doubtful() {
			return nil
		}
		// It can't be told otherwise whether events are taken.
		_, err = x.host.JS.Publish(ctx, stream.ProbeSubject, nil, jetstream.WithMsgID(rand.Text()))
		return err
	})
	if x.spool != nil {
		x.host.Start(func() { x.handOver(running, x.marked.Markers) })
	}
	return nil
}

// hasQuorum reports whether the leader of a stream has just heard from enough of the others
// to agree on a write. Each of them reports once a second.
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

// handOver hands over the calls in the spool, until ctx ends.
func (e *Engine) handOver(ctx context.Context, markers *delivery.Markers) {
	ids := e.Stored.ids
	e.spool.HandOver(ctx, spool.Destination{
		Host: e.host, Events: e.Stored.stream, Markers: markers, IDs: ids,
		Stored: func(sequence uint64, subject string, event *sluice.Event) {
			e.stored(sequence, subject, event)
			call := journal.CallOf(event)
			call.CorrelationID, call.StatusCode = ids.ID(sequence, event.TraceID), http.StatusOK
			call.RemoteAddr = event.RemoteAddr
			e.Journal.Hear(journal.Answered{Call: call})
		},
	})
}

// advice is the error of a server that can't be used, and what to do about it.
type advice string

func (a advice) Error() string { return string(a) }

const unreachable advice = "the engine is not reachable; check the address given with --nats"

func (x *remote) usable(ctx context.Context) error {
	h := x.host
	if !h.Link.Up() {
		return unreachable
	}
	if got := h.Conn.MaxPayload(); got < stream.MaxMessage {
		return advice(fmt.Sprintf("the engine's max_payload is %d bytes; set it to %d (8MB) or more", got,
			stream.MaxMessage))
	}
	// A cluster without a leader does not reply: ask again soon.
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(2*time.Second))
	defer cancel()
	_, err := h.JS.AccountInfo(ctx)
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: %w", advice("the engine has no JetStream for this account; enable it there"), err)
	}
	return err
}

// explain says what is wrong with an external engine and what to do about it.
// Readers of /readyz see it, so it names no address.
func explain(err error) string {
	known, ok := errors.AsType[advice](err)
	switch {
	case ok:
		return string(known)
	case errors.Is(err, nats.ErrConnectionClosed):
		return string(unreachable)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return "the engine does not answer in time"
	case stream.LimitOf(err) != "":
		return stream.LimitOf(err)
	default:
		return "the engine can't be set up; the log has the cause"
	}
}
