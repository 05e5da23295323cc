package jetstream

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/seal"
)

// TestNodesSealTogether: when several nodes start at once on an engine of version 0.1, all of
// them have all records, and one generation is left.
func TestNodesSealTogether(t *testing.T) {
	t.Parallel()
	url := natstest.Start(natstest.Options()).ClientURL()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	storeClear(t, conn)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			wantAll(t, openEngine(t, Options{URL: url, Replicas: 1, Box: boxOf(1)}))
		})
	}
	all.Wait()
	wantAll(t, openEngine(t, Options{URL: url, Replicas: 1, Box: boxOf(1)}))
	generations := make(map[string]bool)
	for _, name := range streamNames(t, conn) {
		if bucket, ok := strings.CutPrefix(name, "KV_"); ok {
			_, id, _ := strings.Cut(bucket, "-")
			generations[id] = true
		}
	}
	if len(generations) != 1 || generations[""] {
		t.Errorf("there are the generations %v", generations)
	}
}

func streamNames(t *testing.T, conn *nats.Conn) (names []string) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	list := js.StreamNames(t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if list.Err() != nil {
		t.Fatal(list.Err())
	}
	slices.Sort(names)
	return names
}

// TestANodeStartsDuringARekey: the node deletes what the rekey has copied so far, so the rekey
// must not switch to that copy, not even in the last moment.
func TestANodeStartsDuringARekey(t *testing.T) {
	t.Parallel()
	opts := Options{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1, Box: boxOf(1)}
	rekeying, starting := connected(t, opts), connected(t, opts)
	storeClear(t, rekeying.host.Conn)
	openEngine(t, opts).Close()
	box, err := boxOf(2)(false)
	if err != nil {
		t.Fatal(err)
	}
	copied, deleting, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		err := rekeying.generations(func(step string) {
			if strings.HasPrefix(step, "floors: ") { // the last ones
				close(copied)
				<-deleting
			}
		}).Rekey(t.Context(), box)
		if err == nil {
			t.Error("the rekey went on")
		}
	}()
	<-copied
	_, err = starting.generations(func(step string) {
		if strings.HasPrefix(step, "deleting") {
			close(deleting)
			<-done
		}
	}).Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, openEngine(t, opts))
}

// TestAnotherKey: an engine that was sealed with another key, in this version or
// in 0.1, is left as it is.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	url := natstest.Start(natstest.Options()).ClientURL()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	storeClear(t, conn)
	for _, version := range []string{"0.1", "now"} {
		before := streamNames(t, conn)
		e := openUnready(t, Options{URL: url, Replicas: 1, Box: boxOf(3)})
		select {
		case <-e.Failed():
		case <-time.After(time.Minute):
			t.Fatalf("%s: the engine goes on: %v", version, e.Ready())
		}
		if err := e.Failure(); !errors.Is(err, seal.ErrOtherKey) || sluice.AsError(err).Code != "secret-key-other" {
			t.Errorf("%s: it failed with %v", version, err)
		}
		if after := streamNames(t, conn); !slices.Equal(before, after) {
			t.Errorf("%s: the streams were %v, and are %v", version, before, after)
		}
		e.Close()
		wantAll(t, openEngine(t, Options{URL: url, Replicas: 1, Box: boxOf(1)}))
	}
}

// TestBucketsOfOthers: buckets that happen to have names of ours, on an engine
// that we never used, are somebody else's.
func TestBucketsOfOthers(t *testing.T) {
	t.Parallel()
	url := natstest.Start(natstest.Options()).ClientURL()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "sessions"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), "theirs", []byte("value")); err != nil {
		t.Fatal(err)
	}
	openEngine(t, Options{URL: url, Replicas: 1}).Close()
	openEngine(t, Options{URL: url, Replicas: 1}).Close()
	if entry, err := kv.Get(t.Context(), "theirs"); err != nil || string(entry.Value()) != "value" {
		t.Errorf("theirs is %v (%v)", entry, err)
	}
}
