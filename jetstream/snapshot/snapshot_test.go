package snapshot_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/backup"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/jetstream/snapshot"
	"sluice/jetstream/stream"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens an embedded engine.
func open(t *testing.T, dir string) *jetstream.Engine {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: dir, Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20, Log: slog.New(slog.DiscardHandler),
	})
	check(t, err)
	t.Cleanup(e.Close)
	select {
	case <-e.SetUp():
	case <-time.After(time.Minute):
		t.Fatalf("the engine was not set up in time: %v", e.Ready())
	}
	return e
}

// backupOf returns a backup of an embedded engine on which something is stored.
func backupOf(t *testing.T) []byte {
	t.Helper()
	e := open(t, t.TempDir())
	_, err := e.Roles.Change(t.Context(), "kept", func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error) {
		return &sluice.Role{Name: "kept"}, nil
	})
	check(t, err)
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, backup.Header{})
	check(t, err)
	check(t, e.Backup(t.Context(), w))
	return file.Bytes()
}

// external returns the host of a server that has nothing yet.
func external(t *testing.T) *stream.Host {
	t.Helper()
	conn, err := nats.Connect(natstest.Start(natstest.Options()).ClientURL())
	check(t, err)
	h := stream.NewExternal(slog.New(slog.DiscardHandler), 1)
	check(t, h.Connect(conn, conn))
	t.Cleanup(conn.Close)
	return h
}

// restore restores the streams of a backup, and undoes that if it fails.
func restore(t *testing.T, h *stream.Host, file []byte) error {
	t.Helper()
	from, err := backup.NewReader(bytes.NewReader(file))
	if err != nil {
		return err
	}
	r := snapshot.NewRestoration(h, from)
	if err = r.Streams(t.Context(), jetstream.StreamCheck()); err != nil {
		check(t, r.Undo(t.Context()))
	}
	return err
}

// streams returns the names of the streams on a host.
func streams(t *testing.T, h *stream.Host) (names []string) {
	t.Helper()
	list := h.JS.StreamNames(t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	check(t, list.Err())
	return names
}

// forged returns a backup whose streams are changed.
func forged(t *testing.T, file []byte, change func(*backup.Stream)) []byte {
	t.Helper()
	var into bytes.Buffer
	r, err := backup.NewReader(bytes.NewReader(file))
	check(t, err)
	w, err := backup.NewWriter(&into, r.Header)
	check(t, err)
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			check(t, w.End())
			return into.Bytes()
		}
		check(t, err)
		change(&s)
		check(t, w.Stream(s))
		_, err = io.Copy(w, r)
		check(t, err)
	}
}

// configured sets a field of the configuration of a stream.
func configured(t *testing.T, s *backup.Stream, field string, value any) {
	t.Helper()
	config := make(map[string]any)
	check(t, json.Unmarshal(s.Config, &config))
	config[field] = value
	var err error
	s.Config, err = json.Marshal(config)
	check(t, err)
}

// TestASnapshotRestoresWhatWasThere: every message with its sequence, the gaps between
// them, and how far a consumer was. The messages are many chunks.
func TestASnapshotRestoresWhatWasThere(t *testing.T) {
	t.Parallel()
	const messages, removed, acknowledged = 40, 7, 12
	from, to := external(t), external(t)
	made, err := from.JS.CreateStream(t.Context(), natsjetstream.StreamConfig{Name: stream.Events, Subjects: []string{"svc.event.>"}})
	check(t, err)
	payload := func(i int) []byte { return bytes.Repeat([]byte(strings.Repeat("x", i)+"\n"), 8<<10) }
	for i := range messages {
		_, err := from.JS.Publish(t.Context(), sluice.EventPrefix+"webhook.a", payload(i))
		check(t, err)
	}
	check(t, made.DeleteMsg(t.Context(), removed))
	consumer, err := made.CreateConsumer(t.Context(), natsjetstream.ConsumerConfig{Durable: "binding", AckPolicy: natsjetstream.AckExplicitPolicy})
	check(t, err)
	for range acknowledged {
		msg, err := consumer.Next()
		check(t, err)
		check(t, msg.DoubleAck(t.Context()))
	}
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, backup.Header{})
	check(t, err)
	check(t, snapshot.NewCopier(from.Conn, w, func() uint64 { return 0 }).Copy(t.Context(), stream.Events))
	check(t, w.End())
	check(t, restore(t, to, file.Bytes()))

	restored, err := to.JS.Stream(t.Context(), stream.Events)
	check(t, err)
	for i := range messages {
		msg, err := restored.GetMsg(t.Context(), uint64(i+1))
		if i+1 == removed {
			if !errors.Is(err, natsjetstream.ErrMsgNotFound) {
				t.Errorf("a message that was removed is back: %v", err)
			}
			continue
		}
		if err != nil || msg.Subject != sluice.EventPrefix+"webhook.a" || !bytes.Equal(msg.Data, payload(i)) {
			t.Errorf("the message %d is another one (%v)", i+1, err)
		}
	}
	found, err := restored.Consumer(t.Context(), "binding")
	check(t, err)
	if floor := found.CachedInfo().AckFloor.Stream; floor != acknowledged+1 { // without the one that was removed
		t.Errorf("the consumer is at %d, want %d", floor, acknowledged+1)
	}
}

// TestAnEmbeddedEngineIsRestored: to another folder, with its records.
func TestAnEmbeddedEngineIsRestored(t *testing.T) {
	t.Parallel()
	from, err := backup.NewReader(bytes.NewReader(backupOf(t)))
	check(t, err)
	dir := t.TempDir()
	check(t, jetstream.Restore(t.Context(), jetstream.Options{Dir: dir, Box: natstest.Box, Log: slog.New(slog.DiscardHandler)}, from, nil, false))
	if role, err := open(t, dir).Roles.Get(t.Context(), "kept"); err != nil || role == nil {
		t.Errorf("the role is %v, %v", role, err)
	}
}

// TestWhatIsRefusedLeavesNothingBehind: a file that is cut off, and one that was forged.
// The engine still takes the backup itself afterwards. Each has an engine of its own: one that
// deletes a stream of the same name twice, while its disk is slow, keeps what it had.
func TestWhatIsRefusedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	file := backupOf(t)
	var h *stream.Host
	refused := func(what string, code sluice.Code, file []byte) {
		t.Helper()
		h = external(t)
		if err := restore(t, h, file); sluice.AsError(err).Code != string(code) {
			t.Errorf("%s: %v", what, err)
		}
		if left := streams(t, h); len(left) > 0 {
			t.Errorf("%s: %v are left", what, left)
		}
	}
	for _, length := range []int{0, 10, 100, len(file) / 3, len(file) / 2, len(file) - 200, len(file) - 1} {
		refused("a file that is cut off", sluice.CodeBackupDamaged, file[:length])
	}
	renamed := func(name string) []byte {
		return forged(t, file, func(s *backup.Stream) {
			if s.Name == stream.Audit || strings.HasPrefix(name, stream.BucketPrefix) && strings.HasPrefix(s.Name, "KV_webhooks-") {
				s.Name = name
			}
		})
	}
	for _, name := range []string{"ORDERS", "SPOOL_X", "EVENTS.X", "KV_orders", ""} {
		refused("the stream "+name, sluice.CodeBackupForeign, renamed(name))
	}
	for _, name := range []string{"KV_webhooks", "KV_webhooks-", "KV_webhooks-0123", "KV_webhooks-0123456789AB", "KV_webhooks-0123456789abcd", "KV_orders-0123456789ab"} {
		refused("the generation of "+name, sluice.CodeBackupForeign, renamed(name))
	}
	for _, subjects := range [][]string{{"orders.>"}, {"svc.audit", ">"}, {"$KV.webhooks.>"}, {"$JS.API.>"}} {
		refused("the subjects "+strings.Join(subjects, " "), sluice.CodeBackupForeign, forged(t, file, func(s *backup.Stream) {
			if s.Name == stream.Audit {
				configured(t, s, "subjects", subjects)
			}
		}))
	}
	check(t, restore(t, h, file))
}

// TestARestoreKeepsStreamsOnDisk: a backup that says otherwise has no say.
func TestARestoreKeepsStreamsOnDisk(t *testing.T) {
	t.Parallel()
	h := external(t)
	check(t, restore(t, h, forged(t, backupOf(t), func(s *backup.Stream) { configured(t, s, "storage", "memory") })))
	names := streams(t, h)
	if !slices.Contains(names, stream.Events) {
		t.Fatalf("there are only %v", names)
	}
	for _, name := range names {
		s, err := h.JS.Stream(t.Context(), name)
		check(t, err)
		if storage := s.CachedInfo().Config.Storage; storage != natsjetstream.FileStorage {
			t.Errorf("%s is in %v", name, storage)
		}
	}
}

// TestUndoLeavesOthersAlone: a stream that was there before stays, with what is in it.
func TestUndoLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	h := external(t)
	_, err := h.JS.CreateStream(t.Context(), natsjetstream.StreamConfig{Name: stream.Audit, Subjects: []string{"theirs"}})
	check(t, err)
	_, err = h.JS.Publish(t.Context(), "theirs", []byte("one"))
	check(t, err)
	if err := restore(t, h, backupOf(t)); err == nil {
		t.Error("it was restored over a stream of another program")
	}
	theirs, err := h.JS.Stream(t.Context(), stream.Audit)
	check(t, err)
	if names := streams(t, h); len(names) != 1 || theirs.CachedInfo().State.Msgs != 1 {
		t.Errorf("there are %v; the stream has %d messages", names, theirs.CachedInfo().State.Msgs)
	}
}
