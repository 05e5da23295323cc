package jetstream

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/record"
	"sluice/seal"
)

// What version 0.1 stored, and must be in no file any more.
const (
	clearToken   = "3f0d9a34-7a1c-4f0e-9c1b-5c6e0a7d1f42"
	clearSession = "c2Vzc2lvbi1pZC0wMQ"
	clearPrivate = "the private half of a signing key"
	clearKey     = "the key of the correlation ids.."
	secretValue  = "the value of a secret"
	oddRole      = "a role, with ünlikely characters > "
)

// boxOf returns what opens records with a key of one repeated byte.
func boxOf(fill byte) func(bool) (*seal.Box, error) {
	return func(bool) (*seal.Box, error) { return seal.New(bytes.Repeat([]byte{fill}, seal.KeySize)) }
}

// storeClear stores records as version 0.1 did.
func storeClear(t *testing.T, conn *nats.Conn) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	box, err := boxOf(1)(false)
	if err != nil {
		t.Fatal(err)
	}
	encoded := func(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }
	for bucket, entry := range map[string]struct {
		key   string
		value any
	}{
		"keys":     {"correlation", []byte(clearKey)},
		"webhooks": {clearToken, sluice.Webhook{UUID: clearToken, EventKey: "webhook.moved"}},
		"floors":   {"binding", map[string]any{"sequence": 7}},
		"roles":    {encoded(oddRole), sluice.Role{Name: oddRole}},
		"sessions": {encoded(clearSession), sluice.Session{ID: clearSession, MACKey: []byte("mark")}},
		"signing":  {encoded("k"), sluice.SigningKey{ID: "k", Private: []byte(clearPrivate)}},
		"secrets":  {encoded("s"), map[string]any{"name": "s", "sealed": box.Seal("s", []byte(secretValue)), "updated": time.Now()}},
	} {
		kv, err := js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket, History: 2})
		if err != nil {
			t.Fatal(err)
		}
		value, isRaw := entry.value.([]byte)
		if !isRaw {
			if value, err = json.Marshal(entry.value); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := kv.Put(t.Context(), entry.key, value); err != nil {
			t.Fatal(err)
		}
	}
}

// clearFolder returns the folder of an engine in which version 0.1 stored records.
func clearFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	server, conn, err := startEmbedded(Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer stopEmbedded(server)
	defer conn.Close()
	storeClear(t, conn)
	return dir
}

// wantAll checks that an engine has what version 0.1 stored.
func wantAll(t *testing.T, e *Engine) {
	t.Helper()
	if hook := e.Webhooks.Copy(clearToken); hook == nil || hook.EventKey != "webhook.moved" || e.Webhooks.Count() != 1 {
		t.Errorf("the webhook is %+v of %d", hook, e.Webhooks.Count())
	}
	if role := e.Roles.Copy(oddRole); role == nil || role.Name != oddRole {
		t.Errorf("the role is %+v", role)
	}
	if session := e.Sessions.Copy(clearSession); session == nil || string(session.MACKey) != "mark" {
		t.Errorf("the session is %+v", session)
	}
	if key := e.SigningKeys.Copy("k"); key == nil || string(key.Private) != clearPrivate {
		t.Errorf("the signing key is %+v", key)
	}
	if secret := e.Secrets.Copy("s"); secret == nil || secret.Value != secretValue {
		t.Errorf("the secret is %+v", secret)
	}
	if key := e.keys.Copy(record.CorrelationKey); key == nil || string(key.Key) != clearKey {
		t.Errorf("the key of the correlation ids is %+v", key)
	} else if key.FirstForm == nil {
		t.Error("events that are to come may have ids of the first form")
	}
	if floor := e.lowWater.Of("binding"); floor != 7 {
		t.Errorf("the floor is %d", floor)
	}
}

// wantSealed checks that no file has a secret in clear, and that there is one generation of
// buckets.
func wantSealed(t *testing.T, dir string) {
	t.Helper()
	generations := make(map[string]bool)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if bucket, ok := strings.CutPrefix(d.Name(), "KV_"); ok && d.IsDir() {
			_, id, _ := strings.Cut(bucket, "-")
			generations[id] = true
		}
		if d.IsDir() {
			return nil
		}
		content, err := os.ReadFile(path)
		for _, text := range []string{clearToken, clearSession, clearPrivate, clearKey, secretValue, "webhook.moved"} {
			for _, form := range []string{text, base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text))} {
				if bytes.Contains(content, []byte(form)) {
					t.Errorf("%s has %q in it", path, form)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(generations) != 1 || generations[""] {
		t.Errorf("there are the generations %v", generations)
	}
}

// snapshots copies the folder of a running engine at each step of a move: each
// copy is what a process that is killed there leaves behind.
func snapshots(t *testing.T, dir string, move func(progress func(step string)) error) map[string]string {
	t.Helper()
	copies := make(map[string]string)
	err := move(func(step string) {
		to := t.TempDir()
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Errorf("%s: %v", step, err)
		}
		copies[fmt.Sprintf("%02d %s", len(copies), step)] = to
	})
	if err != nil {
		t.Fatal(err)
	}
	return copies
}

// connected returns an engine that is connected, but not set up.
func connected(t *testing.T, opts Options) *Engine {
	t.Helper()
	opts.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	e := build(opts)
	_, e.cancel = context.WithCancel(t.Context())
	t.Cleanup(e.Close)
	if err := e.server.connect(); err != nil {
		t.Fatal(err)
	}
	if !e.host.SoleWriter {
		natstest.Eventually(t, "the connection", e.host.Conn.IsConnected)
	}
	return e
}

// TestRecordsAreSealedAtTheFirstStart: killed at any step, the next start
// finishes the work, nothing is lost, and nothing stays in clear.
func TestRecordsAreSealedAtTheFirstStart(t *testing.T) {
	t.Parallel()
	dir, buckets := clearFolder(t), 0
	copies := snapshots(t, dir, func(progress func(string)) error {
		e := connected(t, Options{Dir: dir, Box: boxOf(1)})
		defer e.Close()
		generations := e.generations(progress)
		buckets = len(generations.Buckets)
		_, err := generations.Current(t.Context())
		return err
	})
	if len(copies) != buckets+3 {
		t.Errorf("there were the steps %v", copies)
	}
	copies["at the end"] = dir
	for step, dir := range copies {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			if strings.HasSuffix(step, "count from now on") { // and killed within the deletion of a stream
				if err := os.Remove(filepath.Join(dir, "jetstream", "$G", "streams", "KV_webhooks", "meta.inf")); err != nil {
					t.Fatal(err)
				}
			}
			e := openEngine(t, Options{Dir: dir, Box: boxOf(1)})
			wantAll(t, e)
			putRole(t, e, "another")
			e.Close()
			wantSealed(t, dir)
			e = openEngine(t, Options{Dir: dir, Box: boxOf(1)})
			wantAll(t, e)
			if e.Roles.Copy("another") == nil {
				t.Error("what was stored since is gone")
			}
		})
	}
}

// TestRekey: killed at any step, either the old key or the new one opens all.
func TestRekey(t *testing.T) {
	t.Parallel()
	dir := clearFolder(t)
	box, err := boxOf(2)(false)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	rekey := func(dir string, progress func(string)) error {
		return Rekey(t.Context(), Options{Dir: dir, Box: boxOf(1), Log: log}, box, progress)
	}
	openEngine(t, Options{Dir: dir, Box: boxOf(1)}).Close()
	copies := snapshots(t, dir, func(progress func(string)) error { return rekey(dir, progress) })
	copies["at the end"] = dir
	var opened [3]atomic.Int64 // by key
	t.Cleanup(func() {
		if old, fresh := int(opened[1].Load()), int(opened[2].Load()); old+fresh != len(copies) || old == 0 || fresh != 4 {
			t.Errorf("of %d copies the old key opened %d and the new one %d", len(copies), old, fresh)
		}
	})
	for step, dir := range copies {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			again := t.TempDir()
			if err := os.CopyFS(again, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			for _, key := range []byte{1, 2} {
				e, err := Open(t.Context(), Options{Dir: dir, Box: boxOf(key), EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
				if err != nil {
					if !errors.Is(err, seal.ErrOtherKey) {
						t.Errorf("key %d: %v", key, err)
					}
					continue
				}
				opened[key].Add(1)
				wantAll(t, e)
				e.Close()
				wantSealed(t, dir)
			}
			if err := rekey(again, nil); err != nil {
				t.Fatal(err)
			}
			wantAll(t, openEngine(t, Options{Dir: again, Box: boxOf(2)}))
			wantSealed(t, again)
		})
	}
}
