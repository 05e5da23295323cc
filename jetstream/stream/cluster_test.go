package stream

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// startClusterWriter returns a writer of a stream of its own on a cluster of three.
func startClusterWriter(t *testing.T, o WriterOptions) (*clusterWriter, jetstream.Stream) {
	t.Helper()
	h := NewExternal(slog.New(slog.DiscardHandler), 1)
	h.Replicas, h.Link = 3, NewLink(h.Log)
	h.Dial = func(url string, link *Link, options ...nats.Option) (*nats.Conn, error) {
		return nats.Connect(url, append(link.Options(), options...)...)
	}
	var err error
	if h.Conn, err = h.Dial(clusterURL(), h.Link); err != nil {
		t.Fatal(err)
	}
	h.Link.Connected()
	if h.JS, err = jetstream.New(h.Conn); err != nil {
		t.Fatal(err)
	}
	h.SetReady()
	made, err := h.OpenStream(t.Context(), h.JS, h.Config(jetstream.StreamConfig{Name: t.Name(), Subjects: []string{t.Name() + ".>"}}))
	if err != nil {
		t.Fatal(err)
	}
	w, err := h.StartWriter(t.Context(), made, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Wait()
		h.Conn.Close()
	})
	return w.Writer.(sealer).Writer.(*clusterWriter), made
}

var clusterURL = sync.OnceValue(natstest.StartCluster)

// TestMessagesThatComeTogetherAreStoredTogether: each gets its own sequence, and few of them
// have an id. That is also so for messages that come while the connection is lost.
func TestMessagesThatComeTogetherAreStoredTogether(t *testing.T) {
	w, made := startClusterWriter(t, WriterOptions{Busy: true})
	const messages = 300
	w.host.Link.lost.Store(time.Now().UnixNano())
	time.AfterFunc(50*time.Millisecond, w.host.Link.Connected)
	var all sync.WaitGroup
	sequences := make([]uint64, messages)
	for i := range messages {
		all.Go(func() {
			var err error
			sequences[i], err = natstest.Patiently(t.Context(), func() (uint64, error) {
				return w.Write(t.Context(), t.Name()+".a", nats.Header{"Number": {fmt.Sprint(i)}}, fmt.Append(nil, i))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	identified := 0
	for i, sequence := range sequences {
		msg, err := made.GetMsg(t.Context(), sequence)
		if err != nil || string(msg.Data) != fmt.Sprint(i) || msg.Header.Get("Number") != fmt.Sprint(i) {
			t.Fatalf("at %d there is %+v (%v), want message %d", sequence, msg, err, i)
		}
		if msg.Header.Get(jetstream.MsgIDHeader) != "" {
			identified++
		}
	}
	if identified > messages/2 {
		t.Errorf("%d of %d messages have an id: they were stored one by one", identified, messages)
	}
}

// TestABatchThatWasNotAnsweredIsStoredOnce, and its messages are found where they are.
func TestABatchThatWasNotAnsweredIsStoredOnce(t *testing.T) {
	w, made := startClusterWriter(t, WriterOptions{})
	for _, size := range []int{1, 3} {
		batch := make([]*publication, size)
		for i := range batch {
			batch[i] = &publication{subject: t.Name() + ".b", data: fmt.Append(nil, i), until: time.Now().Add(time.Minute)}
		}
		id := fmt.Sprint("batch of ", size)
		first, _, err := w.attempt(t.Context(), id, batch)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := w.attempt(t.Context(), id, batch); err != nil || again != first {
			t.Errorf("a batch of %d ends at %d, and then at %d (%v)", size, first, again, err)
		}
	}
	if info, err := made.Info(t.Context()); err != nil || info.State.Msgs != 4 {
		t.Errorf("%d messages are stored (%v), want 4", info.State.Msgs, err)
	}
}

// TestARefusedBatchIsWithdrawn as a whole: the withdrawal is stored, so that no message of the
// batch can be.
func TestARefusedBatchIsWithdrawn(t *testing.T) {
	w, made := startClusterWriter(t, WriterOptions{Withdrawn: t.Name() + ".withdrawn"})
	batch := []*publication{
		{subject: t.Name() + ".c", until: time.Now().Add(time.Minute), done: make(chan writeResult, 1)},
		{subject: t.Name() + ".c", until: time.Now().Add(time.Minute), done: make(chan writeResult, 1)},
	}
	w.refuse("doubtful", batch, true, nats.ErrTimeout)
	for i, p := range batch {
		doubt, ok := errors.AsType[*DoubtError]((<-p.done).err)
		if !ok || doubt.ID != "doubtful" || doubt.Place != uint64(i) {
			t.Errorf("message %d is refused with the doubt %+v", i, doubt)
		}
	}
	natstest.Eventually(t, "the withdrawal is stored", func() bool {
		info, err := made.Info(t.Context())
		return err == nil && info.State.Msgs == 1
	})
	// The server that hung goes on.
	if _, err := storeTogether(t.Context(), w.host.Conn, w.messages("doubtful", batch)); !isDuplicate(err) {
		t.Errorf("the batch is stored later (%v)", err)
	}
}

// TestACallThatWasNotSentIsInNoDoubt: it waited behind others until its time was up.
func TestACallThatWasNotSentIsInNoDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &clusterWriter{waiting: make(chan *publication, 1)}
		_, err := w.Write(t.Context(), "x.d", nil, nil)
		if _, doubtful := errors.AsType[*DoubtError](err); err == nil || doubtful {
			t.Errorf("it is refused with %v", err)
		}
		if left := claim([]*publication{<-w.waiting}, "late"); len(left) != 0 {
			t.Error("it would be sent after its caller has gone")
		}
	})
}

// TestAShortcutLeadsToTheLeader, and goes when it does not answer.
func TestAShortcutLeadsToTheLeader(t *testing.T) {
	w, made := startClusterWriter(t, WriterOptions{})
	for _, server := range []string{"n0", "n1", "n2"} {
		w.way.direct.Store(w.way.ways.to(w.host, server))
		if got := w.way.conn().ConnectedServerName(); got != server {
			t.Errorf("the way to %s leads to %s", server, got)
		}
		if _, err := w.Write(t.Context(), t.Name()+".e", nil, nil); err != nil {
			t.Error(err)
		}
		w.way.leave(w.way.conn())
		if w.way.conn() != w.host.Conn {
			t.Error("a shortcut is used that was left")
		}
	}
	if leader := w.way.leader(t.Context()); leader != made.CachedInfo().Cluster.Leader {
		t.Errorf("the leader is said to be %q", leader)
	}
}
