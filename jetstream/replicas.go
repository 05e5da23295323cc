package jetstream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/stretch"
)

// replicas knows which replicas of our streams on an external engine are not well.
type replicas struct {
	host *stream.Host
	ours func(stream string) bool

	mu              sync.Mutex
	unwell          map[replica]time.Time // since when
	last            map[string]uint64     // message of each stream at the last look
	offline, behind int64                 // those of them that are told
}

// watch looks at the streams until running ends.
func (r *replicas) watch(running context.Context) {
	r.host.Every(running, replicasEvery, func(now time.Time) { r.look(running, now) })
}

// look asks for the state of the streams.
func (r *replicas) look(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(stream.AskTimeout))
	defer cancel()
	var found []*jetstream.StreamInfo
	list := r.host.SideJS.ListStreams(ctx)
	for info := range list.Info() {
		found = append(found, info)
	}
	if list.Err() == nil { // otherwise the engine is away, which is told elsewhere
		r.note(found, now)
	}
}

// note notes the state of the streams at a time.
func (r *replicas) note(streams []*jetstream.StreamInfo, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, last := r.unwell, r.last
	r.unwell, r.last = make(map[replica]time.Time), make(map[string]uint64)
	for _, s := range streams {
		r.last[s.Config.Name] = s.State.LastSeq
		written := s.State.LastSeq - min(s.State.LastSeq, last[s.Config.Name])
		if s.Cluster == nil || !r.ours(s.Config.Name) {
			continue
		}
		for _, peer := range s.Cluster.Replicas {
			// A replica of a busy stream always lacks a little, but has what was there at
			// the last look.
			if behind := !peer.Current && (peer.Lag > written || peer.Active > replicasEvery); !peer.Offline &&
				!behind {
				continue
			}
			found := replica{s.Config.Name, peer.Name, peer.Offline}
			if r.unwell[found] = now; !before[found].IsZero() {
				r.unwell[found] = before[found]
			}
		}
	}
	r.log(now)
}

// log counts the replicas that have been unwell for too long, and logs a change. r.mu is held.
func (r *replicas) log(now time.Time) {
	var offline, behind int64
	servers := make(map[string]bool)
	for found, since := range r.unwell {
		switch {
		case now.Sub(since) < replicasUnwell:
			continue
		case found.offline:
			offline++
		default:
			behind++
		}
		servers[found.server] = true
	}
	if offline == r.offline && behind == r.behind {
		return
	}
	r.offline, r.behind = offline, behind
	if offline+behind == 0 {
		r.host.Log.Info("All replicas of the streams are well again.")
		return
	}
	r.host.Log.Warn("Replicas of streams are offline or behind.", "offline", offline, "behind", behind,
		"servers", strings.Join(slices.Sorted(maps.Keys(servers)), ", "))
}

// warnings says which replicas are not well.
func (r *replicas) warnings() []string {
	offline, behind := r.counts()
	if offline+behind == 0 {
		return nil
	}
	return []string{fmt.Sprintf("replicas of the engine's streams are not well (%d offline, %d behind), "+
		"so that losing one more server may lose or block events; the log names the servers", offline, behind)}
}

// counts returns how many replicas are told to be offline and behind.
func (r *replicas) counts() (offline, behind int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.offline, r.behind
}

// A replica is a copy of a stream on a server that is not its leader.
type replica struct {
	stream, server string
	offline        bool // otherwise it is behind
}

const (
	replicasEvery = 10 * time.Second // how often the replicas are looked at
	// replicasUnwell is how long a replica may be offline or behind before it is told.
	// With replicasEvery and the time of a look, that is within a minute.
	replicasUnwell = 30 * time.Second
)

// owns reports whether a stream is one of ours, and not one of another program.
func (e *Engine) owns(name string) bool {
	if !strings.HasPrefix(name, stream.BucketPrefix) {
		return slices.Contains(stream.Names, name)
	}
	return slices.ContainsFunc(e.withKeys(), func(b bucket) bool { return b.StreamName() == name })
}
