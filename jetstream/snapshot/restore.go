package snapshot

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
)

// undoTimeout bounds the deletion of what was made.
const undoTimeout = 30 * time.Second

// A Restoration makes the streams of an engine from a backup.
type Restoration struct {
	host   *stream.Host
	from   *backup.Reader
	events string   // name of the stream of events
	id     string   // marks the streams that it makes
	asked  []string // names of the streams that the engine was asked to make
}

// NewRestoration returns a restoration, which begins with CheckEmpty. events is the
// name of the stream of events.
func NewRestoration(h *stream.Host, from *backup.Reader, events string) *Restoration {
	return &Restoration{host: h, from: from, events: events, id: rand.Text()}
}

// CheckEmpty refuses an engine on which sluice has stored something.
func (r *Restoration) CheckEmpty(ctx context.Context, ours []string) error {
	names := r.host.JS.StreamNames(ctx)
	for name := range names.Name() {
		if slices.Contains(ours, name) {
			return sluice.Errorf(sluice.CodeEngineNotEmpty, "There are streams of sluice on this engine already (%s); restore to an engine, or an account of it, that has none.", name)
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
	var begun struct {
		apiReply

		To string `json:"deliver_subject"`
	}
	if err := ask(ctx, r.host.Conn, "$JS.API.STREAM.RESTORE."+s.Name, map[string]any{"config": config, "state": s.State}, &begun); err != nil {
		return err
	}
	if err := r.send(ctx, begun.To); err != nil {
		return err
	}
	var done struct {
		apiReply

		State extent `json:"state"`
	}
	last, err := r.host.Conn.RequestWithContext(ctx, begun.To, nil)
	if err != nil {
		return stream.NoAnswer(err)
	}
	if err := json.Unmarshal(last.Data, &done); err != nil {
		return err
	}
	if err := done.failure(); err != nil {
		return err
	}
	if done.State != want {
		return fmt.Errorf("it ends at %d instead of %d", done.State.LastSeq, want.LastSeq)
	}
	if s.Name == r.events {
		return untilReply(ctx, r.closeStart)
	}
	return nil
}

// closeStart makes the stream of events begin with its first event. Otherwise events
// that were removed while the backup was made would pass for lost ones.
func (r *Restoration) closeStart(ctx context.Context) error {
	events, err := r.host.JS.Stream(ctx, r.events)
	if err != nil {
		return err
	}
	begin := events.CachedInfo().State.FirstSeq
	first, err := events.GetMsg(ctx, begin, jetstream.WithGetMsgSubject(">"))
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && first.Sequence == begin {
		return nil
	}
	if err != nil {
		return err
	}
	return events.Purge(ctx, jetstream.WithPurgeSequence(first.Sequence))
}

// send sends the contents of a stream to the engine, several chunks at a time.
func (r *Restoration) send(ctx context.Context, to string) error {
	const onTheWay = chunkWindow / chunkSize
	acks := make(chan *nats.Msg, onTheWay+1)
	inbox := r.host.Conn.NewInbox()
	sub, err := r.host.Conn.ChanSubscribe(inbox, acks)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is gone
	unanswered := 0
	// await waits until at most so many chunks are unanswered.
	await := func(most int) error {
		for ; unanswered > most; unanswered-- {
			select {
			case ack := <-acks:
				if err := refusal(ack); err != nil {
					return err
				}
			case <-time.After(chunkTimeout):
				return stream.NoAnswer(errors.New("the engine does not take more"))
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	chunk := make([]byte, chunkSize)
	n, err := io.ReadFull(r.from, chunk)
	if n > 0 {
		if err := r.begin(ctx, to, chunk[:n]); err != nil {
			return err
		}
	}
	for err == nil {
		if n, err = io.ReadFull(r.from, chunk); n == 0 {
			break
		}
		if err := errors.Join(await(onTheWay-1), r.host.Conn.PublishRequest(to, inbox, chunk[:n])); err != nil {
			return err
		}
		unanswered++
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return await(0)
}

// begin sends the first chunk, again if nobody took it.
func (r *Restoration) begin(ctx context.Context, to string, chunk []byte) error {
	return untilReply(ctx, func(ctx context.Context) error {
		ack, err := r.host.Conn.RequestWithContext(ctx, to, chunk)
		if err != nil {
			return stream.NoAnswer(err)
		}
		return refusal(ack)
	})
}

// untilReply repeats a request for a while if nobody is there to reply: the servers of
// a cluster may not all know yet what was just made, or have no leader for it.
func untilReply(ctx context.Context, request func(ctx context.Context) error) error {
	const pause = 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	for {
		err := request(ctx)
		if !errors.Is(err, nats.ErrNoResponders) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// refusal returns why the engine refused a chunk, nil if it took it.
func refusal(ack *nats.Msg) error {
	if status := ack.Header.Get("Status"); status != "" {
		return stream.NoAnswer(fmt.Errorf("restore: status %s %s", status, ack.Header.Get("Description")))
	}
	if len(ack.Data) == 0 {
		return nil
	}
	var failed apiReply
	return errors.Join(json.Unmarshal(ack.Data, &failed), failed.failure())
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
			select {
			case <-ctx.Done():
				return errors.Join(ctx.Err(), err)
			case <-time.After(pause):
			}
		}
	}
	return nil
}

func replicated(cluster *jetstream.ClusterInfo) bool {
	return cluster == nil || !slices.ContainsFunc(cluster.Replicas, func(p *jetstream.PeerInfo) bool { return !p.Offline && (!p.Current || p.Lag > 0) })
}

// Deliveries converts what is known of accepted deliveries to the form that the
// engine needs: records if it is embedded, markers if it is external.
func (r *Restoration) Deliveries(ctx context.Context) error {
	recorded := slices.Contains(r.asked, stream.Deliveries)
	switch {
	case r.host.SoleWriter && !recorded:
		return delivery.ReadAtStart(ctx, r.host)
	case !r.host.SoleWriter && recorded:
		return delivery.Convert(ctx, r.host, r.events)
	}
	return nil
}

// restoredBy is the metadata of a stream that says which restoration has made it.
const restoredBy = "sluice.restore"

// config returns the configuration that a stream is restored with. A backup may come
// from anywhere, so the only settings taken from it are those that the stream needs
// until a server starts and sets the rest. No start corrects a bucket: it is made as
// the engine's client makes one.
func (r *Restoration) config(s backup.Stream) (jetstream.StreamConfig, error) {
	said, err := read(s)
	if err != nil {
		return said, err
	}
	config := jetstream.StreamConfig{
		Name: s.Name, Subjects: said.Subjects, MaxMsgsPerSubject: said.MaxMsgsPerSubject, AllowDirect: said.AllowDirect,
		Storage: jetstream.FileStorage, MaxBytes: -1, Metadata: map[string]string{restoredBy: r.id},
	}
	if strings.HasPrefix(s.Name, stream.BucketPrefix) {
		config.AllowDirect, config.AllowRollup, config.DenyDelete, config.Discard = true, true, true, jetstream.DiscardNew
	}
	if markers := stream.DeliveryPrefix + ">"; s.Name == r.events && !r.host.SoleWriter && !slices.Contains(config.Subjects, markers) {
		config.Subjects = append(config.Subjects, markers)
	}
	return r.host.Config(config), nil
}

// CheckSubjects refuses a stream that would take messages of other programs.
func CheckSubjects(s backup.Stream) error {
	_, err := read(s)
	return err
}

// read returns the configuration in a backup, if its subjects are sluice's.
func read(s backup.Stream) (said jetstream.StreamConfig, err error) {
	if err := json.Unmarshal(s.Config, &said); err != nil {
		return said, err
	}
	bucket, isBucket := strings.CutPrefix(s.Name, stream.BucketPrefix)
	for _, subject := range said.Subjects {
		if isBucket && subject != stream.BucketSubjects+bucket+".>" || !isBucket && !strings.HasPrefix(subject, stream.OurSubjects) {
			return said, Foreign("the subject %s of the stream %s", subject, s.Name)
		}
	}
	return said, nil
}

// Foreign is the error of a backup with something in it that is not sluice's.
func Foreign(format string, args ...any) error {
	return sluice.Errorf(sluice.CodeBackupForeign, "The backup has something that is not sluice's: "+format+". Restore one that sluice backup of this version, or an earlier one, has made.", args...)
}
