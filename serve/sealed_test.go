package serve_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/config"
	"sluice/jetstream"
	"sluice/seal"
	"sluice/serve"
)

// inFiles searches all files below a folder, and their names, for texts in any
// spelling, and tells of those that it finds.
func inFiles(t *testing.T, folder string, texts map[string]string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		content = append(content, path...)
		for name, text := range texts {
			for _, spelling := range spellings(text) {
				if bytes.Contains(content, []byte(spelling)) {
					found = append(found, name+" in "+path+" as "+spelling)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// spellings returns the forms in which a text may be in a file: as it is, in hex,
// and in base64, wherever in what is encoded it may begin.
func spellings(text string) []string {
	all := []string{text, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text)))}
	if bare := strings.ReplaceAll(text, "-", ""); bare != text {
		raw, _ := hex.DecodeString(bare) // of a UUID
		all = append(all, bare, string(raw))
	}
	for offset := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			encoded := encoding.EncodeToString(append(make([]byte, offset), text...))
			all = append(all, encoded[4*((offset+2)/3):len(encoded)-2])
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 8 })
}

// newKey is a key that is not in the data folder.
var newKey = strings.Repeat("5e", seal.KeySize)

// TestACopiedFolderOpensNothing: with the key outside, no file of the data folder
// has a token, a key, a secret or a payload in it.
func TestACopiedFolderOpensNothing(t *testing.T) {
	t.Parallel()
	r := runServer(t, adminPassword, "secret-key="+newKey)
	texts := r.makeSecrets()
	r.goodCalls(texts["token"])
	r.badCalls(texts["token"])
	texts["payload"] = "what nobody else may read"
	r.exchange("POST", receivePath, texts["payload"], header("Token", texts["token"]))
	r.stop()
	maps.Copy(texts, recordsIn(t, r.config.Data, newKey))
	if len(texts) != 23 {
		t.Errorf("these are searched for: %q", texts)
	}
	if found := inFiles(t, r.config.Data, map[string]string{"event key": "webhook.sealed"}); found == nil {
		t.Error("the search finds nothing at all")
	}
	for _, found := range inFiles(t, r.config.Data, texts) {
		t.Error(found)
	}
	if _, err := os.Stat(filepath.Join(r.config.Data, "secret.key")); err == nil {
		t.Error("a key was made in the data folder")
	}
}

// makeSecrets makes the server store secrets of every kind, and gives them.
func (r *running) makeSecrets() map[string]string {
	r.t.Helper()
	key, err := hex.DecodeString(newKey)
	if err != nil {
		r.t.Fatal(err)
	}
	texts := map[string]string{
		"secret key": string(key), "text of the secret key": newKey, "admin's password": adminPassword,
		"ada's password": "the password of ada", "secret": "the value of a secret", "source": "the source of a pipeline",
	}
	command := func(name string, pairs ...string) map[string]any {
		return r.post("/api/v3/command/"+name, pairs, asAdmin).object(r.t)
	}
	texts["token"] = command("webhook.put", "eventKey", "webhook.sealed", "maxPayloadLength", "500")["uuid"].(string)
	command("webhook.put", "uuid", texts["token"], "payloadType", "raw")
	texts["deleted token"] = command("webhook.put", "eventKey", "webhook.deleted")["uuid"].(string)
	command("webhook.delete", "uuid", texts["deleted token"])
	command("secret.put", "name", "key", "value", texts["secret"])
	command("iam.user.put", "username", "ada", "password", texts["ada's password"], "roles", "developer")
	texts["client's secret"] = command("iam.client.put", "clientId", "robot", "roles", "developer")["secret"].(string)
	r.exchange("PUT", "/api/v3/pipeline/p", "pipeline: [event.listen: {eventKey: webhook.never}, set: {value: "+texts["source"]+"}]", asAdmin)
	tokens := "/auth/realms/default/protocol/openid-connect/token"
	login := r.post(tokens, []string{"grant_type", "password", "client_id", "sluice", "username", "admin", "password", adminPassword}).object(r.t)
	texts["refresh token"] = login["refresh_token"].(string)
	renewed := r.post(tokens, []string{"grant_type", "refresh_token", "client_id", "sluice", "refresh_token", texts["refresh token"]}).object(r.t)
	texts["access token"], texts["renewed token"] = renewed["access_token"].(string), renewed["refresh_token"].(string)
	texts["family"], _, _ = strings.Cut(texts["renewed token"], ".")
	signedIn := r.post("/signin", []string{"username", "admin", "password", adminPassword})
	cookie, _, _ := strings.Cut(signedIn.header.Get("Set-Cookie"), ";")
	_, texts["cookie"], _ = strings.Cut(cookie, "=")
	return texts
}

// post sends a form of names and values in turn.
func (r *running) post(target string, pairs []string, alterations ...func(*http.Request)) answer {
	r.t.Helper()
	form := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+target, strings.NewReader(form.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, alter := range append(alterations, header("Content-Type", "application/x-www-form-urlencoded")) {
		alter(request)
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 400 {
		r.t.Fatalf("%s is answered %d %s (%v)", target, response.StatusCode, content, err)
	}
	return answer{response.StatusCode, response.Header, content}
}

// recordsIn returns what the records of a stopped server have in them that nobody
// may read.
func recordsIn(t *testing.T, data, key string) map[string]string {
	t.Helper()
	raw, err := seal.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: filepath.Join(data, "engine"), EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
		Box: func(bool) (*seal.Box, error) { return seal.New(raw) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	texts := make(map[string]string)
	for _, k := range e.SigningKeys.All() {
		texts["signing key"] = string(k.Private)
	}
	for _, session := range e.Sessions.All() {
		texts["session"], texts["hash of a refresh token"], texts["key of refresh tokens"] = session.ID, session.Hash, string(session.MACKey)
	}
	for _, session := range e.PortalSessions.All() {
		texts["portal session"] = session.ID
	}
	for _, account := range e.Accounts.All() {
		texts["hash of the password of "+account.Username] = account.Password
	}
	for _, client := range e.Clients.All() {
		if client.Secret != "" {
			texts["hash of a client's secret"] = client.Secret
		}
	}
	return texts
}

// TestKeysThatDontFit: a start without the key from outside, or with another, says
// so and changes nothing.
func TestKeysThatDontFit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(newKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, config: load(t, t.TempDir(), "secret-key-file="+file), log: new(transcript), client: newClient()}
	s.resume()
	t.Cleanup(s.stop)
	h := s.create("webhook.kept")
	s.stop()
	right := s.config
	for name, test := range map[string]struct {
		change func(*config.Config)
		says   string
	}{
		"none":       {func(c *config.Config) { c.SecretKeyFile = "" }, "sealed with a key from outside"},
		"another":    {func(c *config.Config) { c.SecretKeyFile, c.SecretKey = "", strings.Repeat("00", 32) }, "sealed with another key"},
		"no key":     {func(c *config.Config) { c.SecretKeyFile, c.SecretKey = "", "passphrase" }, "secret-key: "},
		"no file":    {func(c *config.Config) { c.SecretKeyFile = file + "x" }, "secret-key-file: "},
		"not a file": {func(c *config.Config) { c.SecretKeyFile = t.TempDir() }, "secret-key-file: "},
	} {
		wrong := right
		test.change(&wrong)
		server, err := serve.Start(t.Context(), wrong, serve.Options{Log: s.log.logger()})
		if err == nil {
			_ = server.Stop()
			t.Fatalf("%s: it starts", name)
		}
		if !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "engine") || strings.Contains(err.Error(), newKey) {
			t.Errorf("%s: it says %q", name, err)
		}
		if _, err := os.Stat(filepath.Join(right.Data, "secret.key")); err == nil {
			t.Errorf("%s: a key was made", name)
		}
	}
	s.resume()
	s.call(h, "text/plain", "x").wantStatus(t, http.StatusOK)
}

// TestAKeyBesideWhatItSeals: who gives the key from outside is told of one that
// lies in the folder.
func TestAKeyBesideWhatItSeals(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "secret.key"), []byte(newKey), 0o600); err != nil {
		t.Fatal(err)
	}
	const warning = "warning: secret.key lies in the data folder"
	for key, warned := range map[string]bool{"secret-key=" + newKey: true, "secret-key=": false} {
		r := runServer(t, adminPassword, "data="+data, key)
		if strings.Contains(r.banner.String(), warning) != warned {
			t.Errorf("with %s the banner is %s", key, r.banner)
		}
		r.stop()
	}
}

// TestAnotherKeyOnAnExternalEngine: the process ends and says why.
func TestAnotherKeyOnAnExternalEngine(t *testing.T) {
	t.Parallel()
	nats, stop := runEngine(t, engineOptions(t.TempDir()))
	t.Cleanup(stop)
	start(t, "nats="+nats.ClientURL(), "secret-key="+newKey)
	log := new(transcript)
	err := serve.Run(t.Context(), load(t, "", "nats="+nats.ClientURL(), "secret-key="+strings.Repeat("00", 32)), serve.Options{Log: log.logger()}, new(transcript))
	if err == nil || !strings.Contains(err.Error(), "sealed with another key") {
		t.Errorf("it ended with %v", err)
	}
	if strings.Contains(log.String(), "can't be used yet") {
		t.Errorf("the log is misleading: %s", log)
	}
}

// TestRekeyOfAFolder: the key moves out of the folder, and all that is stored
// with it stays.
func TestRekeyOfAFolder(t *testing.T) {
	t.Parallel()
	s := start(t, "public-url=http://sluice.example")
	h := s.create("webhook.moved")
	s.command("secret.put", map[string]any{"name": "key", "value": "the value"}).wantStatus(t, 200)
	access, refresh := s.login()
	discard := slog.New(slog.DiscardHandler)
	var steps []string
	note := func(step string) { steps = append(steps, step) }
	if err := serve.Rekey(t.Context(), s.config, newKey, discard, note); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("beside a running server: %v", err)
	}
	s.stop()
	if err := serve.Rekey(t.Context(), s.config, "passphrase", discard, note); err == nil || !strings.Contains(err.Error(), "SLUICE_NEW_SECRET_KEY: ") {
		t.Errorf("to what is no key: %v", err)
	}
	nowhere := s.config
	nowhere.Data = filepath.Join(t.TempDir(), "none")
	if err := serve.Rekey(t.Context(), nowhere, newKey, discard, note); err == nil || !strings.Contains(err.Error(), "no data folder") {
		t.Errorf("on no folder: %v", err)
	}
	if _, err := os.Stat(nowhere.Data); err == nil || len(steps) > 0 {
		t.Errorf("refused, it has done %v", steps)
	}
	for range 2 { // the second time there is nothing left to do
		if err := serve.Rekey(t.Context(), s.config, newKey, discard, note); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(strings.Join(steps, "\n"), "webhooks: 1 copied") {
		t.Errorf("the steps were %q", steps)
	}
	if server, err := serve.Start(t.Context(), s.config, serve.Options{Log: discard}); err == nil {
		_ = server.Stop()
		t.Fatal("it starts without the new key")
	}
	s.config.SecretKey = newKey
	for _, found := range inFiles(t, s.config.Data, recordsIn(t, s.config.Data, newKey)) {
		t.Error(found)
	}
	s.resume()
	s.call(h, "text/plain", "x").wantStatus(t, http.StatusOK)
	s.whoami("Bearer "+access).wantStatus(t, 200)
	s.whoami("Refresh "+refresh).wantStatus(t, 200)
	if got := s.run(`pipeline: [set: {value: "#{len(secret('key'))}"}]`).wantStatus(t, 200); strings.TrimSpace(string(got.body)) != "9" {
		t.Errorf("the secret has %s characters", got.body)
	}
}

// TestKeyRotation: the admin replaces the signing key, others may not.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	s := start(t)
	access, _ := s.login()
	var first, second struct {
		KeyID string `json:"keyId"`
	}
	s.command("iam.key.rotate", nil).wantStatus(t, 200).into(t, &first)
	s.command("iam.key.rotate", nil).wantStatus(t, 200).into(t, &second)
	if first.KeyID == "" || first.KeyID == second.KeyID {
		t.Errorf("the keys are %+v and %+v", first, second)
	}
	s.whoami("Bearer "+access).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "dev", "password": "a developer's password", "roles": []string{"developer"}}).wantStatus(t, 200)
	s.command("iam.key.rotate", nil, func(r *http.Request) { r.SetBasicAuth("dev", "a developer's password") }).wantStatus(t, 403)
}
