package snapshot

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
	"sluice/wait"
)

// undoTimeout bounds the deletion of what was made.
const undoTimeout = 30 * time.Second

// A Restoration makes the streams of an engine from a backup.
type Restoration struct {
	host  *stream.Host
	from  *backup.Reader
	id    string   // marks the streams that it makes
	asked []string // names of the streams that the engine was asked to make
}

// NewRestoration returns a restoration, which begins with CheckEmpty.
func NewRestoration(h *stream.Host, from *backup.Reader) *Restoration {
	return &Restoration{host: h, from: from, id: rand.Text()}
}

// CheckEmpty refuses an engine on which sluice has stored something.
func (r *Restoration) CheckEmpty(ctx context.Context, ours []string) error {
	names := r.host.JS.StreamNames(ctx)
	for name := range names.Name() {
		if slices.Contains(ours, name) {
			return sluice.CodeEngineNotEmpty.Errorf("There are streams of sluice on this engine already "+
				"(%s); restore to an engine, or an account of it, that has none.", name)
		}
	}
	return names.Err()
}

// ErrLeftBehind is the error of a restore that failed and could not be undone.
var ErrLeftBehind = errors.New("streams of the restore are left behind")

// Undo deletes what this restoration has made, which may be half of a stream. It leaves
// alone what another restore, or another program, has made under the same names.
func (r *Restoration) Undo(ctx context.Context) (left error) {
	if r.host.Dir != "" { // the caller clears its folder
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	for _, name := range r.asked {
		found, err := r.host.JS.Stream(ctx, name)
		if err == nil && found.CachedInfo().Config.Metadata[restoredBy] == r.id {
			err = r.host.JS.DeleteStream(ctx, name)
		}
		if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			r.host.Log.Error("A stream of a failed restore is left behind; delete it.", "stream", name, "error", err)
			left = ErrLeftBehind
		}
	}
	return left
}

// Streams restores all streams of the backup, until check refuses one.
func (r *Restoration) Streams(ctx context.Context, check func(backup.Stream) error) error {
	for {
		s, err := r.from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := check(s); err != nil {
			return err
		}
		r.asked = append(r.asked, s.Name)
		if err := r.stream(ctx, s); err != nil {
			return fmt.Errorf("restoring %s: %w", s.Name, err)
		}
	}
}

// stream restores one stream.
func (r *Restoration) stream(ctx context.Context, s backup.Stream) error {
	config, err := r.config(s)
	if err != nil {
		return err
	}
	var want extent
	if err := json.Unmarshal(s.State, &want); err != nil {
		return err
	}
	begun, err := ask[struct {
		To string `json:"deliver_subject"`
	}](ctx, r.host.Conn, "$JS.API.STREAM.RESTORE."+s.Name, map[string]any{"config": config, "state": s.State})
	if err != nil {
		return err
	}
	if err := r.send(ctx, begun.To); err != nil {
		return err
	}
	done, err := answer[struct {
		State extent `json:"state"`
	}](r.host.Conn.RequestWithContext(ctx, begun.To, nil))
	if err != nil {
		return err
	}
	if done.State != want {
		return fmt.Errorf("it ends at %d instead of %d", done.State.LastSeq, want.LastSeq)
	}
	if s.Name == stream.Events {
		return untilReply(ctx, r.closeStart)
	}
	return nil
}

// closeStart makes the stream of events begin with its first event. Otherwise events
// that were removed while the backup was made would pass for lost ones.
func (r *Restoration) closeStart(ctx context.Context) error {
	events, err := r.host.JS.Stream(ctx, stream.Events)
	if err != nil {
		return err
	}
	begin := events.CachedInfo().State.FirstSeq
	first, err := stream.First(ctx, events, begin, ">")
	if first == nil || err != nil || first.Sequence == begin {
		return err
	}
	return events.Purge(ctx, jetstream.WithPurgeSequence(first.Sequence))
}

// AwaitReplicas returns when every replica that is online has all of its stream.
func (r *Restoration) AwaitReplicas(ctx context.Context) error {
	const pause = 200 * time.Millisecond
	for _, name := range r.asked {
		for {
			s, err := r.host.JS.Stream(ctx, name)
			if err == nil && replicated(s.CachedInfo().Cluster) {
				break
			}
			if wait.For(ctx, pause) != nil {
				return errors.Join(ctx.Err(), err)
			}
		}
	}
	return nil
}

func replicated(cluster *jetstream.ClusterInfo) bool {
	return cluster == nil || !slices.ContainsFunc(cluster.Replicas,
		func(p *jetstream.PeerInfo) bool { return !p.Offline && (!p.Current || p.Lag > 0) })
}

// Deliveries converts what is known of accepted deliveries to the form that the
// engine needs: records if it is embedded, markers if it is external.
func (r *Restoration) Deliveries(ctx context.Context) error {
	recorded := slices.Contains(r.asked, stream.Deliveries)
	switch {
	case r.host.SoleWriter && !recorded:
		return delivery.ReadAtStart(ctx, r.host)
	case !r.host.SoleWriter && recorded:
		return delivery.Convert(ctx, r.host)
	}
	return nil
}
