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

// TestNodesBeginTogether: when several nodes start at once on an empty engine, all of them use
// one generation.
func TestNodesBeginTogether(t *testing.T) {
	t.Parallel()
	url := natstest.Start(natstest.Options()).ClientURL()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { openEngine(t, Options{URL: url, Replicas: 1, Box: boxOf(1)}) })
	}
	all.Wait()
	storeKnown(t, Options{URL: url, Replicas: 1})
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
	storeKnown(t, opts)
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

// TestAnotherKey: an engine whose records were sealed with another key is left as it is.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	opts := Options{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1, Box: boxOf(3)}
	storeKnown(t, opts)
	if err := refused(t, opts); !errors.Is(err, seal.ErrOtherKey) || sluice.AsError(err).Code != "secret-key-other" {
		t.Errorf("it failed with %v", err)
	}
	opts.Box = boxOf(1)
	wantAll(t, openEngine(t, opts))
}

// TestEnginesOfVersion01AreRefused: their records are in clear, which no version after 0.2 reads.
func TestEnginesOfVersion01AreRefused(t *testing.T) {
	t.Parallel()
	opts := Options{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1}
	conn, err := nats.Connect(opts.URL, nats.Timeout(patience))
	check(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	check(t, err)
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys"})
	check(t, err)
	_, err = kv.Put(t.Context(), "correlation", []byte("the key of the correlation ids.."))
	check(t, err)
	if err := refused(t, opts); sluice.AsError(err).Code != "engine-older" {
		t.Errorf("it failed with %v", err)
	}
}

// refused returns why an engine is refused, and checks that nothing was made there.
func refused(t *testing.T, opts Options) error {
	t.Helper()
	conn, err := nats.Connect(opts.URL, nats.Timeout(patience))
	check(t, err)
	defer conn.Close()
	before := streamNames(t, conn)
	e := openUnready(t, opts)
	defer e.Close()
	select {
	case <-e.Failed():
	case <-time.After(time.Minute):
		t.Fatalf("the engine goes on: %v", e.Ready())
	}
	if after := streamNames(t, conn); !slices.Equal(before, after) {
		t.Errorf("the streams were %v, and are %v", before, after)
	}
	return e.Failure()
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
