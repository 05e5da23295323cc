package record_test

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/jetstream/record"
)

// A kind of records is what the suite needs to know of them.
type kind[T any] struct {
	records func(*jetstream.Engine) *record.Bucket[T]
	key     func() string // that no other test has
	create  func(key, name string) *T
	name    func(*T) string
	edit    func(before T) *T // adds one to what edits counts
	edits   func(*T) int
}

// webhooks are stored by their tokens as they are, all others by encoded keys.
var (
	webhookKind = kind[sluice.Webhook]{
		records: func(e *jetstream.Engine) *record.Bucket[sluice.Webhook] { return e.Webhooks },
		key:     uuid.NewString,
		create:  func(key, name string) *sluice.Webhook { return &sluice.Webhook{UUID: key, EventKey: name} },
		name:    func(h *sluice.Webhook) string { return h.EventKey },
		edit: func(h sluice.Webhook) *sluice.Webhook {
			h.MaxPayloadLength++
			return &h
		},
		edits: func(h *sluice.Webhook) int { return h.MaxPayloadLength },
	}
	roleKind = kind[sluice.Role]{
		records: func(e *jetstream.Engine) *record.Bucket[sluice.Role] { return e.Roles },
		key:     func() string { return "a name, with ünlikely characters > " + natstest.UniqueKey("role") },
		create:  func(_, name string) *sluice.Role { return &sluice.Role{Name: name} },
		name:    func(r *sluice.Role) string { return r.Name },
		edit: func(r sluice.Role) *sluice.Role {
			r.Permissions = append(append([]string{}, r.Permissions...), "*")
			return &r
		},
		edits: func(r *sluice.Role) int { return len(r.Permissions) },
	}
)

// TestRecords: every kind of records keeps the contract of sluice.Records, on
// every set-up.
func TestRecords(t *testing.T) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		open := func() *jetstream.Engine { return openEngine(t, s) }
		t.Run("webhooks", func(t *testing.T) { webhookKind.conform(t, open, s.Shared) })
		t.Run("roles", func(t *testing.T) { roleKind.conform(t, open, s.Shared) })
	})
}

// TestWatchesBeginAgain: a copy is kept up to date after the client library has given
// its watch up.
func TestWatchesBeginAgain(t *testing.T) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		e := openEngine(t, s)
		e.Roles.EndWatch()
		key := roleKind.key()
		if _, err := natstest.Patiently(t.Context(), func() (*sluice.Role, error) {
			return e.Roles.Change(t.Context(), key, func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error) {
				return &sluice.Role{Name: key}, nil
			})
		}); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the role is in the copy", func() bool {
			found, err := e.Roles.Get(t.Context(), key)
			return err == nil && found != nil
		})
		if err := e.Ready(); err != nil {
			t.Errorf("the engine is not ready: %v", err)
		}
	})
}

func TestMain(m *testing.M) { natstest.Main(m) }

// openEngine opens an engine and closes it with the test.
func openEngine(t *testing.T, s natstest.Setup) *jetstream.Engine {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: s.Dir, Box: natstest.Box, URL: s.URL, Replicas: s.Replicas, EventMaxAge: time.Hour, EventMaxBytes: 256 << 20, ResultTTL: time.Hour,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.SetUp()
	return e
}

func (k kind[T]) conform(t *testing.T, open func() *jetstream.Engine, shared bool) {
	nodes := []*jetstream.Engine{open(), nil}
	nodes[1] = nodes[0]
	if shared {
		nodes[1] = open()
	}
	first, second := k.records(nodes[0]), k.records(nodes[1])
	t.Run("created, edited, deleted", func(t *testing.T) { k.changeOne(t, first) })
	t.Run("a rule across records", func(t *testing.T) { k.takeName(t, first, second) })
	t.Run("concurrent edits", func(t *testing.T) { k.editTogether(t, first, second) })
	t.Run("followed", func(t *testing.T) { k.followed(t, first) })
	if shared {
		t.Run("seen by other nodes", func(t *testing.T) { k.seen(t, first, second) })
	}
	t.Run("kept over a restart", func(t *testing.T) {
		kept, dropped := k.key(), k.key()
		want := k.put(t, first, kept)
		k.put(t, first, dropped)
		k.remove(t, first, dropped)
		nodes[0].Close()
		again := k.records(open())
		if diff := cmp.Diff(want, k.get(t, again, kept)); diff != "" {
			t.Errorf("another record came back (-want +got):\n%s", diff)
		}
		if got := k.get(t, again, dropped); got != nil {
			t.Errorf("a deleted record came back: %+v", got)
		}
		k.put(t, again, k.key()) // writing goes on where it ended
	})
}

func (k kind[T]) get(t *testing.T, records sluice.Records[T], key string) *T {
	t.Helper()
	got, err := natstest.Patiently(t.Context(), func() (*T, error) { return records.Get(t.Context(), key) })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (k kind[T]) put(t *testing.T, records sluice.Records[T], key string) *T {
	t.Helper()
	made, err := natstest.Patiently(t.Context(), func() (*T, error) {
		return records.Change(t.Context(), key, func(*T, map[string]*T) (*T, error) { return k.create(key, natstest.UniqueKey("record")), nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (k kind[T]) remove(t *testing.T, records sluice.Records[T], key string) {
	t.Helper()
	_, err := natstest.Patiently(t.Context(), func() (any, error) { return nil, sluice.Remove(t.Context(), records, key) })
	if err != nil {
		t.Fatal(err)
	}
}

func (k kind[T]) changeOne(t *testing.T, records sluice.Records[T]) {
	key := k.key()
	if got := k.get(t, records, key); got != nil {
		t.Fatalf("before it is created there is %+v", got)
	}
	made := k.put(t, records, key)
	edited, err := records.Change(t.Context(), key, func(before *T, _ map[string]*T) (*T, error) { return k.edit(*before), nil })
	if err != nil || k.name(edited) != k.name(made) || k.edits(edited) != 1 {
		t.Fatalf("an edit gives %+v (%v)", edited, err)
	}
	if diff := cmp.Diff(edited, k.get(t, records, key)); diff != "" {
		t.Errorf("what was answered is not what is stored (-want +got):\n%s", diff)
	}
	refusal := errors.New("refused")
	if _, err := records.Change(t.Context(), key, func(*T, map[string]*T) (*T, error) { return nil, refusal }); !errors.Is(err, refusal) {
		t.Errorf("a refusal is answered %v", err)
	}
	k.remove(t, records, key)
	if got := k.get(t, records, key); got != nil {
		t.Errorf("after it is deleted there is %+v", got)
	}
}

// takeName: of many changes that take the same name, one succeeds.
func (k kind[T]) takeName(t *testing.T, nodes ...sluice.Records[T]) {
	const puts = 40
	name, taken := natstest.UniqueKey("one"), errors.New("taken")
	errs := make([]error, puts)
	var all sync.WaitGroup
	for i := range puts {
		all.Go(func() {
			key := k.key()
			_, errs[i] = nodes[i%len(nodes)].Change(t.Context(), key, func(_ *T, all map[string]*T) (*T, error) {
				for _, other := range all {
					if k.name(other) == name {
						return nil, taken
					}
				}
				return k.create(key, name), nil
			})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, taken):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d got the same name", won)
	}
}

// editTogether: none of concurrent edits undoes another.
func (k kind[T]) editTogether(t *testing.T, nodes ...sluice.Records[T]) {
	const edits = 20
	key := k.key()
	k.put(t, nodes[0], key)
	var all sync.WaitGroup
	for i := range edits {
		all.Go(func() {
			_, err := nodes[i%len(nodes)].Change(t.Context(), key, func(before *T, _ map[string]*T) (*T, error) {
				if before == nil {
					return nil, errors.New("there is none")
				}
				return k.edit(*before), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	natstest.Eventually(t, "all edits are there", func() bool { return k.edits(k.get(t, nodes[0], key)) == edits })
}

// followed: a follower knows at each moment what is stored.
func (k kind[T]) followed(t *testing.T, records *record.Bucket[T]) {
	before, after := k.key(), k.key()
	k.put(t, records, before)
	var mu sync.Mutex
	known := make(map[*T]bool)
	records.Follow(func(before, after *T) {
		mu.Lock()
		defer mu.Unlock()
		delete(known, before)
		if after != nil {
			known[after] = true
		}
	})
	k.put(t, records, after)
	k.remove(t, records, before)
	mu.Lock()
	defer mu.Unlock()
	all := records.All()
	for _, record := range all {
		if !known[record] {
			t.Errorf("%s is not known", k.name(record))
		}
	}
	if len(known) != len(all) {
		t.Errorf("%d records are known, %d are stored", len(known), len(all))
	}
}

// seen: a change on one node is found on another at once, since a call may follow
// a put within a millisecond.
func (k kind[T]) seen(t *testing.T, here, there sluice.Records[T]) {
	for range 20 {
		key := k.key()
		k.put(t, here, key)
		if k.get(t, there, key) == nil {
			t.Fatal("a record that another node has just made is not found")
		}
		k.remove(t, here, key)
		natstest.Eventually(t, "the delete reaches the other node", func() bool { return k.get(t, there, key) == nil })
	}
}
