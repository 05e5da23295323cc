package jetstream

import (
	"bytes"
	"context"
	"encoding/base64"
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

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/record"
	"sluice/seal"
)

// What is stored, and must be in no file in clear.
const (
	knownToken   = "3f0d9a34-7a1c-4f0e-9c1b-5c6e0a7d1f42"
	knownSession = "c2Vzc2lvbi1pZC0wMQ"
	knownPrivate = "the private half of a signing key"
	knownSecret  = "the value of a secret"
	oddRole      = "a role, with ünlikely characters > "
)

// boxOf returns what opens records with a key of one repeated byte.
func boxOf(fill byte) func(bool) (*seal.Box, error) {
	return func(bool) (*seal.Box, error) { return seal.New(bytes.Repeat([]byte{fill}, seal.KeySize)) }
}

// storeKnown stores records of several sorts in an engine.
func storeKnown(t *testing.T, opts Options) {
	t.Helper()
	opts.Box = boxOf(1)
	e := openEngine(t, opts)
	put(t, e.Webhooks, knownToken, sluice.Webhook{UUID: knownToken, EventKey: "webhook.moved"})
	put(t, e.Roles, oddRole, sluice.Role{Name: oddRole})
	put(t, e.Sessions, knownSession, sluice.Session{ID: knownSession, MACKey: []byte("mark")})
	put(t, e.SigningKeys, "k", sluice.SigningKey{ID: "k", Private: []byte(knownPrivate)})
	put(t, e.Secrets, "s", sluice.Secret{Name: "s", Value: knownSecret})
	put(t, e.Secrets, "print", sluice.Secret{Name: "print", Value: e.keyPrint})
	e.Close()
}

func put[T any](t *testing.T, in *record.Bucket[T], key string, one T) {
	t.Helper()
	_, err := natstest.Patiently(t.Context(), func() (*T, error) {
		return in.Change(t.Context(), key, func(*T, map[string]*T) (*T, error) { return &one, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantAll checks that an engine has what storeKnown has stored.
func wantAll(t *testing.T, e *Engine) {
	t.Helper()
	if hook := e.Webhooks.Copy(knownToken); hook == nil || hook.EventKey != "webhook.moved" || e.Webhooks.Count() != 1 {
		t.Errorf("the webhook is %+v of %d", hook, e.Webhooks.Count())
	}
	if role := e.Roles.Copy(oddRole); role == nil || role.Name != oddRole {
		t.Errorf("the role is %+v", role)
	}
	if session := e.Sessions.Copy(knownSession); session == nil || string(session.MACKey) != "mark" {
		t.Errorf("the session is %+v", session)
	}
	if key := e.SigningKeys.Copy("k"); key == nil || string(key.Private) != knownPrivate {
		t.Errorf("the signing key is %+v", key)
	}
	if secret := e.Secrets.Copy("s"); secret == nil || secret.Value != knownSecret {
		t.Errorf("the secret is %+v", secret)
	}
	if secret := e.Secrets.Copy("print"); secret == nil || secret.Value != e.keyPrint {
		t.Errorf("the key of the correlation ids is that of %s, want %+v", e.keyPrint, secret)
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
		for _, text := range []string{knownToken, knownSession, knownPrivate, knownSecret, "webhook.moved"} {
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

// TestRekey: killed at any step, either the old key or the new one opens all.
func TestRekey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storeKnown(t, Options{Dir: dir})
	box, err := boxOf(2)(false)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	rekey := func(dir string, progress func(string)) error {
		return Rekey(t.Context(), Options{Dir: dir, Box: boxOf(1), Log: log}, box, progress)
	}
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
