package serve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice"
	"sluice/backup"
	"sluice/serve"
)

// TestABackupIsForAdmins: nobody else may make one, in no way.
func TestABackupIsForAdmins(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, role := range []string{"developer", "viewer", "support", "anonymous"} {
		s.command("iam.user.put", map[string]any{"username": "a-" + role, "password": "twelve monkeys dance", "roles": role}).wantStatus(t, 200)
		s.send("POST", "/api/v3/command/server.backup", nil, func(r *http.Request) { r.SetBasicAuth("a-"+role, "twelve monkeys dance") }).
			wantProblem(t, http.StatusForbidden, "forbidden")
	}
	s.send("GET", "/api/v3/command/server.backup", nil, asAdmin).wantProblem(t, http.StatusMethodNotAllowed, "method-not-allowed")
	source := "pipeline:\n- server.backup\n"
	s.send("PUT", "/api/v3/pipeline/sly", strings.NewReader(source), asAdmin).wantStatus(t, http.StatusBadRequest)
	got := s.command("server.backup", nil).wantStatus(t, 200)
	if media := got.header.Get("Content-Type"); media != "application/octet-stream" {
		t.Errorf("Content-Type is %q", media)
	}
	header, summary, err := backup.Check(bytes.NewReader(got.body))
	if err != nil || summary.Streams < 10 || header.Version != serve.Version || header.Engine != "embedded" {
		t.Errorf("the backup has %+v, %+v, %v", header, summary, err)
	}
	key, err := os.ReadFile(filepath.Join(s.config.Data, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got.body, bytes.TrimSpace(key)) {
		t.Error("the key is in the backup as it is")
	}
}

// TestABackupMovesToAnExternalEngine: its servers start with the key that was in the
// backup, and have all that was in it.
func TestABackupMovesToAnExternalEngine(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.moving", "payloadType", "raw")
	s.command("secret.put", map[string]any{"name": "greeting", "value": "hello"}).wantStatus(t, 200)
	s.send("PUT", "/api/v3/pipeline/greet", strings.NewReader(`
pipeline:
- event.listen: {eventKey: webhook.moving}
- set: {value: "#{len(secret('greeting'))}"}
`), asAdmin).wantStatus(t, 200)
	called := s.call(h, "text/plain", "one").wantStatus(t, 200)
	id := called.header.Get("Svc-Result-Correlationid")
	file := bytes.NewReader(s.command("server.backup", map[string]any{"passphrase": "a b c"}).wantStatus(t, 200).body)
	nats, stop := runEngine(t, engineOptions(t.TempDir()))
	t.Cleanup(stop)
	keyFile := filepath.Join(t.TempDir(), "moved.key")
	settings := []string{"nats=" + nats.ClientURL(), "secret-key-file=" + keyFile}
	opts := serve.RestoreOptions{Log: slog.New(slog.DiscardHandler), Progress: func(int64, int64) {}}
	if _, err := serve.Restore(t.Context(), load(t, "", settings...), file, opts); !sluice.CodePassphraseMissing.Is(err) {
		t.Fatalf("without the passphrase: %v", err)
	}
	opts.Passphrase = "a b c"
	other := load(t, "", "nats="+nats.ClientURL(), "secret-key="+strings.Repeat("0f", 32))
	if _, err := serve.Restore(t.Context(), other, file, opts); sluice.AsError(err).Code != "secret-key-other" {
		t.Fatalf("with another key: %v", err)
	}
	nowhere := load(t, "", "nats="+nats.ClientURL(), "secret-key-file="+filepath.Join(t.TempDir(), "none", "moved.key"))
	if _, err := serve.Restore(t.Context(), nowhere, file, opts); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("with a key that can't be written: %v", err)
	}
	done, err := serve.Restore(t.Context(), load(t, "", settings...), file, opts)
	if err != nil || done.KeyFile != keyFile {
		t.Fatalf("%+v, %v", done, err)
	}
	moved := start(t, settings...)
	if got := moved.poll(id).wantStatus(t, 200); !strings.Contains(string(got.body), `"value":5`) {
		t.Errorf("the result of before is %s", got)
	}
	if got := moved.call(h, "text/plain", "two").wantStatus(t, 200); !strings.Contains(string(got.body), "correlationId") {
		t.Errorf("answered %s", got)
	}
}

// TestARestoreCanWait: with Paused, no pipeline of the copy runs and no alert is told before somebody
// resumes them all.
func TestARestoreCanWait(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.copied")
	s.store("quick", listening("webhook.copied", "set: {value: done}"))
	s.store("night", listening("sluice.alert.*", "set: {value: told}"))
	s.store("deaf", "pipeline: [{set: {value: 1}}]")
	file := bytes.NewReader(s.command("server.backup", nil).wantStatus(t, 200).body)
	data := filepath.Join(t.TempDir(), "copy")
	opts := serve.RestoreOptions{Paused: true, Log: slog.New(slog.DiscardHandler), Progress: func(int64, int64) {}}
	if _, err := serve.Restore(t.Context(), load(t, data), file, opts); err != nil {
		t.Fatal(err)
	}
	copied := start(t, "data="+data, "result-wait=1ms")
	waits := copied.call(h, "text/plain", "one").result(t)
	for name, paused := range map[string]any{"quick": true, "night": true, "deaf": nil} {
		if got := copied.command("pipeline.get", map[string]any{"name": name}).object(t)["paused"]; got != paused {
			t.Errorf("%s is paused: %v", name, got)
		}
	}
	if got := copied.command("pipeline.stats", map[string]any{"name": "quick"}).wantStatus(t, 200); !strings.Contains(string(got.body), `"waiting":1`) {
		t.Errorf("its figures are %s", got)
	}
	copied.command("pipeline.resume", map[string]any{"all": true}).wantStatus(t, 200)
	if got := copied.await(t, waits.CorrelationID); got.Status != "ok" {
		t.Errorf("what waited came to %+v", got)
	}
}

// TestAFailedRestoreLeavesNothing: neither a folder that was not there, nor anything
// in one that was.
func TestAFailedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	file := s.command("server.backup", nil).wantStatus(t, 200).body
	restore := func(data string, file []byte) error {
		_, err := serve.Restore(t.Context(), load(t, data), bytes.NewReader(file), serve.RestoreOptions{Log: slog.New(slog.DiscardHandler), Progress: func(int64, int64) {}})
		return err
	}
	absent, empty := filepath.Join(t.TempDir(), "a", "b"), t.TempDir()
	for what, damage := range map[string]func([]byte) []byte{
		"a byte":  func(f []byte) []byte { f[len(f)/2] ^= 1; return f },
		"the end": func(f []byte) []byte { return f[:len(f)-1] },
		"most":    func(f []byte) []byte { return f[:len(f)/10] },
	} {
		for _, data := range []string{absent, empty} {
			if err := restore(data, damage(bytes.Clone(file))); sluice.AsError(err).Code != "backup-damaged" {
				t.Errorf("%s is damaged: %v", what, err)
			}
		}
	}
	if _, err := os.Stat(absent); err == nil {
		t.Error("a folder was left behind")
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := restore(empty, file); err != nil {
		t.Fatal(err)
	}
	// A restore that was killed is told from a folder that is whole.
	if err := os.WriteFile(filepath.Join(empty, "format"), []byte("restoring\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := serve.Start(t.Context(), load(t, empty), serve.Options{AdminPassword: adminPassword, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(fmt.Sprint(err), "was interrupted") {
		t.Errorf("started on half of a folder: %v", err)
	}
}

// TestAForeignBackupMakesNothing: one with a stream that is not sluice's is refused before
// there is a folder, also by a mere check.
func TestAForeignBackupMakesNothing(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, backup.Header{})
	if err == nil {
		foreign := backup.Stream{Name: "ORDERS", Config: json.RawMessage(`{}`), State: json.RawMessage(`{}`)}
		err = errors.Join(w.Stream(foreign), w.End())
	}
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "restored")
	for _, checkOnly := range []bool{true, false} {
		opts := serve.RestoreOptions{Log: slog.New(slog.DiscardHandler), CheckOnly: checkOnly, Progress: func(read, all int64) {
			if _, err := os.Stat(data); err == nil {
				t.Errorf("the folder was made after %d of %d bytes", read, all)
			}
		}}
		if _, err := serve.Restore(t.Context(), load(t, data), bytes.NewReader(file.Bytes()), opts); sluice.AsError(err).Code != "backup-foreign" {
			t.Errorf("restored: %v", err)
		}
	}
}
