package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/stretch"
	"sluice/value"
)

const (
	nodeEvery = 2 * time.Second // how often a node announces itself
	nodeGone  = 3 * nodeEvery   // and when it is believed to have gone
)

// nodes knows the other nodes that share an external engine, and notices those of another
// version.
type nodes struct {
	host *stream.Host
	self node

	mu     sync.Mutex
	others map[string]seenNode // by id
	told   map[string]bool     // versions that were logged
}

// A node is how a server announces itself.
type node struct {
	ID      string `json:"id"`
	Version string `json:"version"` // of the program
	Format  int    `json:"format"`  // in which it stores
}

type seenNode struct {
	node

	at time.Time
}

// setUp begins to announce this node and to listen to the others.
func (n *nodes) setUp(running context.Context) error {
	hello, err := value.Marshal(n.self)
	if err != nil {
		return err
	}
	sub, err := n.host.Conn.Subscribe(stream.NodeSubject, n.hear)
	if err != nil {
		return err
	}
	context.AfterFunc(running, func() { _ = sub.Unsubscribe() })                       // fails if the connection has gone, which ends it too
	announce := func(time.Time) { _ = n.host.Conn.Publish(stream.NodeSubject, hello) } // the next one may arrive
	announce(time.Now())
	n.host.Every(running, nodeEvery, announce)
	return nil
}

// hear notes another node. If that one stores in a newer format, this one can't go on.
func (n *nodes) hear(msg *nats.Msg) {
	var other node
	if json.Unmarshal(msg.Data, &other) != nil || other.ID == n.self.ID {
		return
	}
	n.mu.Lock()
	n.others[other.ID] = seenNode{other, time.Now()}
	news := other.Version != n.self.Version && !n.told[other.Version]
	n.told[other.Version] = true
	n.mu.Unlock()
	if news {
		n.host.Log.Warn("A node of another version shares the engine; let all nodes have the same soon.", "this", n.self.Version, "other", other.Version)
	}
	if other.Format > n.self.Format {
		n.host.Fail(sluice.Errorf(sluice.CodeEngineNewer, "A node of version %s has begun to use the engine: it stores in format %d, this program knows %d. Start version %s here, too.", other.Version, other.Format, n.self.Format, other.Version))
	}
}

// versions counts the other nodes whose version is not ours, by version.
func (n *nodes) versions() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := make(map[string]int)
	for id, other := range n.others {
		switch {
		case time.Since(other.at) > nodeGone:
			delete(n.others, id)
		case other.Version != n.self.Version:
			found[other.Version]++
		}
	}
	return found
}

// warnings names the other versions.
func (n *nodes) warnings() []string {
	found := n.versions()
	if len(found) == 0 {
		return nil
	}
	var parts []string
	for _, version := range slices.Sorted(maps.Keys(found)) {
		parts = append(parts, fmt.Sprintf("%d of version %s", found[version], version))
	}
	return []string{fmt.Sprintf("nodes of other versions share the engine: %s; this one has %s: finish the upgrade", strings.Join(parts, ", "), n.self.Version)}
}

const (
	replicasEvery = 10 * time.Second // how often the replicas are looked at
	// replicasUnwell is how long a replica may be offline or behind before it is told.
	// With replicasEvery and the time of a look, that is within a minute.
	replicasUnwell = 30 * time.Second
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

// A replica is a copy of a stream on a server that is not its leader.
type replica struct {
	stream, server string
	offline        bool // otherwise it is behind
}

// owns reports whether a stream is one of ours, and not one of another program.
func (e *Engine) owns(name string) bool {
	if !strings.HasPrefix(name, stream.BucketPrefix) {
		return slices.Contains(stream.Names, name)
	}
	return slices.ContainsFunc(append(e.buckets(), e.keys), func(b bucket) bool { return b.StreamName() == name })
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
			if behind := !peer.Current && (peer.Lag > written || peer.Active > replicasEvery); !peer.Offline && !behind {
				continue
			}
			found := replica{s.Config.Name, peer.Name, peer.Offline}
			if r.unwell[found] = now; !before[found].IsZero() {
				r.unwell[found] = before[found]
			}
		}
	}
	r.tell(now)
}

// tell counts the replicas that have been unwell for too long, and logs a change. r.mu is held.
func (r *replicas) tell(now time.Time) {
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
	r.host.Log.Warn("Replicas of streams are offline or behind.", "offline", offline, "behind", behind, "servers", strings.Join(slices.Sorted(maps.Keys(servers)), ", "))
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
