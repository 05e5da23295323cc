package jetstream

import (
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// TestReplicasThatAreNotWell are told within a minute, and not before they had time to catch
// up; and so is that they are well again.
func TestReplicasThatAreNotWell(t *testing.T) {
	t.Parallel()
	well := jetstream.PeerInfo{Name: "n1", Current: true}
	offline, behind := jetstream.PeerInfo{Name: "n2", Offline: true, Current: true}, jetstream.PeerInfo{Name: "n2", Lag: 7}
	silent := jetstream.PeerInfo{Name: "n2", Active: time.Minute}
	for name, test := range map[string]struct {
		peers           []jetstream.PeerInfo // of each look
		stream          string
		offline, behind int64
		written         uint64 // between two looks
	}{
		"well":               {[]jetstream.PeerInfo{well, well, well, well, well, well}, stream.Events, 0, 0, 0},
		"offline":            {[]jetstream.PeerInfo{well, offline, offline, offline, offline, offline}, stream.Events, 1, 0, 0},
		"behind":             {[]jetstream.PeerInfo{well, behind, behind, behind, behind, behind}, stream.Events, 0, 1, 0},
		"busy":               {[]jetstream.PeerInfo{well, behind, behind, behind, behind, behind}, stream.Events, 0, 0, 7},
		"busy and behind":    {[]jetstream.PeerInfo{well, behind, behind, behind, behind, behind}, stream.Events, 0, 1, 6},
		"silent":             {[]jetstream.PeerInfo{silent, silent, silent, silent, silent, silent}, stream.Events, 0, 1, 7},
		"for a moment":       {[]jetstream.PeerInfo{well, offline, offline, well, behind, behind}, stream.Events, 0, 0, 0},
		"again and again":    {[]jetstream.PeerInfo{offline, well, offline, well, offline, well}, stream.Events, 0, 0, 0},
		"well again":         {[]jetstream.PeerInfo{offline, offline, offline, offline, offline, well}, stream.Events, 0, 0, 0},
		"of somebody else's": {[]jetstream.PeerInfo{offline, offline, offline, offline, offline, offline}, "THEIRS", 0, 0, 0},
	} {
		r := &replicas{host: stream.NewExternal(slog.New(slog.DiscardHandler), 3), ours: func(name string) bool { return name == stream.Events }}
		now := time.Now()
		for i, peer := range test.peers {
			state := jetstream.StreamState{LastSeq: 100 + uint64(i)*test.written}
			r.note([]*jetstream.StreamInfo{{Config: jetstream.StreamConfig{Name: test.stream}, State: state, Cluster: &jetstream.ClusterInfo{Replicas: []*jetstream.PeerInfo{&well, &peer}}}}, now)
			now = now.Add(replicasEvery)
		}
		if offline, behind := r.counts(); offline != test.offline || behind != test.behind || (len(r.warnings()) > 0) != (offline+behind > 0) {
			t.Errorf("%s: %d are offline and %d behind; the warnings are %q", name, offline, behind, r.warnings())
		}
	}
	if replicasUnwell+replicasEvery+stream.AskTimeout > time.Minute {
		t.Error("it takes more than a minute")
	}
}
