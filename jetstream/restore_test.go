package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// crafted returns a backup whose streams are changed, and that begins with others.
func crafted(t *testing.T, file []byte, change func(*backup.Stream), first ...backup.Stream) []byte {
	t.Helper()
	var into bytes.Buffer
	r, err := backup.NewReader(bytes.NewReader(file))
	check(t, err)
	w, err := backup.NewWriter(&into, r.Header)
	check(t, err)
	for _, s := range first {
		check(t, w.Stream(s))
	}
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		check(t, err)
		change(&s)
		check(t, w.Stream(s))
		_, err = io.Copy(w, r)
		check(t, err)
	}
	check(t, w.End())
	return into.Bytes()
}

// configured sets fields of the configuration of a stream.
func configured(t *testing.T, s *backup.Stream, fields map[string]any) {
	t.Helper()
	config := make(map[string]any)
	check(t, json.Unmarshal(s.Config, &config))
	maps.Copy(config, fields)
	var err error
	s.Config, err = json.Marshal(config)
	check(t, err)
}

// external starts a single server, and returns a connection to it besides.
func external(t *testing.T) (natstest.Setup, jetstream.JetStream) {
	t.Helper()
	s := natstest.Setup{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1}
	conn, err := nats.Connect(s.URL)
	check(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	check(t, err)
	return s, js
}

// TestARestoreLeavesOthersAlone: a backup that names a foreign stream, or wants the messages of
// others, is refused, and everything stays as it was.
func TestARestoreLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	file := take(t, openEngine(t, Options{Dir: t.TempDir()}))
	s, js := external(t)
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	check(t, err)
	_, err = js.Publish(t.Context(), "orders.new", []byte("one"))
	check(t, err)
	refused := func(what string, file []byte) {
		t.Helper()
		if err := restore(t, file, s); sluice.AsError(err).Code != "backup-foreign" {
			t.Errorf("%s: %v", what, err)
		}
		if names := streamNames(t, js.Conn()); len(names) != 1 {
			t.Errorf("%s: there are %v", what, names)
		}
	}
	for _, name := range []string{"ORDERS", "KV_orders", "KV_webhooks", "KV_webhooks-", "KV_orders-0123456789ab", "SPOOL_X", "EVENTS.X", ""} {
		added := backup.Stream{Name: name, Config: json.RawMessage(`{}`), State: json.RawMessage(`{}`)}
		refused("a stream "+name, crafted(t, file, func(*backup.Stream) {}, added))
		changed := func(s *backup.Stream) {
			if s.Name == stream.Audit {
				s.Name = name
			}
		}
		refused("a stream "+name+" at the end", crafted(t, file, changed))
	}
	for _, prefix := range []string{stream.Events, "KV_webhooks-", "KV_roles-"} {
		changed := func(s *backup.Stream) {
			if strings.HasPrefix(s.Name, prefix) {
				configured(t, s, map[string]any{"subjects": []string{"svc.event.>", "payments.>"}})
			}
		}
		refused("subjects of "+prefix, crafted(t, file, changed))
	}
	orders, err := js.Stream(t.Context(), "ORDERS")
	check(t, err)
	if got := orders.CachedInfo().State.Msgs; got != 1 {
		t.Errorf("ORDERS has %d messages", got)
	}
	check(t, restore(t, file, s))
}

// TestTwoRestoresAtOnce: the one that is later fails, and what the other has made stays.
func TestTwoRestoresAtOnce(t *testing.T) {
	t.Parallel()
	file := take(t, openEngine(t, Options{Dir: t.TempDir()}))
	s, js := external(t)
	slow := &interrupted{from: bytes.NewReader(file)}
	from, err := backup.NewReader(slow)
	check(t, err)
	slow.meanwhile = func() { check(t, restore(t, file, s)) } // the slow one has found the engine empty
	err = Restore(t.Context(), Options{URL: s.URL, Replicas: s.Replicas, Box: natstest.Box, Log: slog.New(slog.DiscardHandler)}, from, nil, false)
	if err == nil || slow.meanwhile != nil {
		t.Fatalf("the second restore: %v", err)
	}
	_, summary, err := backup.Check(bytes.NewReader(file))
	check(t, err)
	if names := streamNames(t, js.Conn()); len(names) != summary.Streams-1 { // deliveries have another form there
		t.Errorf("%d streams are left: %v", len(names), names)
	}
	if err := openEngine(t, Options{URL: s.URL, Replicas: s.Replicas}).host.Connected(); err != nil {
		t.Error(err)
	}
}

// interrupted reads byte by byte, and does something before the next one.
type interrupted struct {
	from      io.Reader
	meanwhile func()
}

func (i *interrupted) Read(p []byte) (int, error) {
	if do := i.meanwhile; do != nil {
		i.meanwhile = nil
		do()
	}
	return i.from.Read(p[:1])
}

// TestARestoreTakesWhatStreamsNeed: whatever else a backup says of its streams, they are
// configured as a server would, on disk.
func TestARestoreTakesWhatStreamsNeed(t *testing.T) {
	t.Parallel()
	first := openEngine(t, Options{Dir: t.TempDir()})
	_, err := first.Roles.Change(t.Context(), "kept", func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error) {
		return &sluice.Role{Name: "kept"}, nil
	})
	check(t, err)
	file := crafted(t, take(t, first), func(s *backup.Stream) {
		configured(t, s, map[string]any{
			"name": "OTHER", "storage": "memory", "max_age": 1_000_000_000, "max_msgs": 1, "max_bytes": 1, "max_msg_size": 1, "max_consumers": 1, "retention": "workqueue",
			"republish": map[string]any{"src": ">", "dest": "stolen.>"}, "sources": []any{map[string]any{"name": "ORDERS"}},
			"subject_transform": map[string]any{"src": ">", "dest": "svc.other.>"}, "placement": map[string]any{"cluster": "other"},
			"sealed": true, "deny_purge": true, "deny_delete": !strings.HasPrefix(s.Name, "KV_"), "allow_rollup_hdrs": false, "no_ack": true,
			"metadata": map[string]any{"by": "somebody"},
		})
	})
	s, js := external(t)
	check(t, restore(t, file, s))
	fresh, made := external(t)
	openEngine(t, Options{URL: fresh.URL, Replicas: 1})
	e := openEngine(t, Options{URL: s.URL, Replicas: 1})
	want := make(map[string]jetstream.StreamConfig)
	plain := func(c jetstream.StreamConfig) (string, jetstream.StreamConfig) {
		kind := c.Name
		if generation, _ := e.generations(nil).Owns(c.Name); generation != "" {
			kind = strings.TrimSuffix(c.Name, "-"+generation)
			c.Subjects, c.Duplicates, c.AllowAtomicPublish = nil, 0, false // a restore gives buckets the host's
		}
		c.Name, c.Metadata = "", nil
		return kind, c
	}
	for _, name := range streamNames(t, made.Conn()) {
		found, err := made.Stream(t.Context(), name)
		check(t, err)
		kind, config := plain(found.CachedInfo().Config)
		want[kind] = config
	}
	for _, name := range streamNames(t, js.Conn()) {
		found, err := js.Stream(t.Context(), name)
		check(t, err)
		kind, config := plain(found.CachedInfo().Config)
		got, _ := json.Marshal(config)
		wanted, _ := json.Marshal(want[kind])
		if string(got) != string(wanted) {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, wanted)
		}
		if by := found.CachedInfo().Config.Metadata["by"]; by != "" {
			t.Errorf("%s has the metadata of the backup", name)
		}
	}
	if role, err := e.Roles.Get(t.Context(), "kept"); err != nil || role == nil {
		t.Errorf("the role is %v, %v", role, err)
	}
}

// TestAForgedStateDeletesNothing of other programs: a backup has it, too.
func TestAForgedStateDeletesNothing(t *testing.T) {
	t.Parallel()
	s := natstest.Start(natstest.Options())
	opts := Options{URL: s.ClientURL(), Replicas: 1}
	e := openEngine(t, opts)
	_, err := e.host.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders"}})
	check(t, err)
	sealed, err := e.host.JS.Stream(t.Context(), stream.Sealed)
	check(t, err)
	last, err := sealed.GetLastMsgForSubject(t.Context(), "svc.sealed")
	check(t, err)
	var state map[string]any
	check(t, json.Unmarshal(last.Data, &state))
	state["drop"] = []string{"ORDERS", "KV_orders", "KV_webhooks-0123456789ab"}
	forged, err := json.Marshal(state)
	check(t, err)
	_, err = e.host.JS.Publish(t.Context(), "svc.sealed", forged)
	check(t, err)
	e.Close()
	e = openEngine(t, opts)
	if _, err := e.host.JS.Stream(t.Context(), "ORDERS"); err != nil {
		t.Errorf("the stream of another program: %v", err)
	}
}
