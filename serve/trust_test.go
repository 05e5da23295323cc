package serve_test

import (
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAChallengeIsNoSignature: X signs its challenges with the key of its calls, so
// nobody gets a body signed by sending it as a challenge.
func TestAChallengeIsNoSignature(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.x", "provider", "x", "signingSecret", "consumer secret")
	greet := func(challenge string) answer {
		return s.send("GET", receivePath+"?token="+h.UUID+"&crc_token="+url.QueryEscape(challenge), nil)
	}
	greet("MDRlNTQ0ZDctZjY4NS00ZDkx_-8=").wantStatus(t, 200)
	for _, body := range []string{`{"forged":true}`, `[1]`, `"text"`, "a b", strings.Repeat("a", 129)} {
		if got := greet(body); got.status != 401 {
			t.Errorf("%.20q is answered with %s", body, got)
		}
	}
}

// TestASecretBelongsToItsSender: who may edit a webhook can't make another sender of
// it that sends the secret itself, and have that call shown.
func TestASecretBelongsToItsSender(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.repository", "provider", "github", "signingSecret", "TOP-SECRET")
	asEditor := s.user("editor", "webhook.*")
	change := func(more ...any) answer {
		params := map[string]any{"uuid": h.UUID}
		for i := 0; i+1 < len(more); i += 2 {
			params[more[i].(string)] = more[i+1]
		}
		return s.command("webhook.put", params, asEditor)
	}
	change("provider", "gitlab").wantProblem(t, 400, "parameter-invalid")
	sign := func(alterations ...func(*http.Request)) answer {
		return s.send("POST", "/api/v3/command/webhook.sign?eventKey="+h.EventKey, strings.NewReader("{}"), append(alterations, header("Content-Type", "application/json"))...)
	}
	if got := sign(asEditor).wantStatus(t, 200); strings.Contains(string(got.body), "TOP-SECRET") {
		t.Errorf("the secret shows: %s", got.body)
	}
	change("description", "still works").wantStatus(t, 200)
	change("provider", "gitlab", "signingSecret", "another").wantStatus(t, 200)
	sign(asEditor).wantProblem(t, 403, "forbidden")
	sign(asAdmin).wantStatus(t, 200)
	change("provider", "").wantStatus(t, 200)
}

// TestASignatureOfMailgunIsUsedOnce, in whatever form it comes: it covers nothing
// else of the call.
func TestASignatureOfMailgunIsUsedOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.mail", "provider", "mailgun", "signingSecret", "key", "payloadType", "raw")
	at, token := strconv.FormatInt(time.Now().Unix(), 10), "123abcdef"
	signature := hexMAC("key", at+token)
	send := func(at, token, more string) answer {
		form := url.Values{"timestamp": {at}, "token": {token}, "signature": {signature}, "more": {more}}
		return s.call(h, "application/x-www-form-urlencoded", form.Encode())
	}
	send(at, token, "first").wantStatus(t, 200)
	if got := send(at, token, "first"); got.status != 200 || got.header.Get("svc-duplicate") != "true" {
		t.Errorf("the same call again: %s", got)
	}
	for what, got := range map[string]answer{
		"with another body": send(at, token, "forged"),
		"as JSON":           s.call(h, "application/json", `{"signature":{"timestamp":"`+at+`","token":"`+token+`","signature":"`+signature+`"}}`),
		"split elsewhere":   send(at+"123", "abcdef", "forged"),
	} {
		if got.status == 200 && got.header.Get("svc-duplicate") != "differs" {
			t.Errorf("the signature %s: %s", what, got)
		}
	}
}

// TestALearnedSecretIsNoName of a stored one, nor several.
func TestALearnedSecretIsNoName(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("secret.put", map[string]any{"name": "prod", "value": "hush"}).wantStatus(t, 200)
	h := s.create("webhook.asana", "provider", "asana")
	for _, secret := range []string{"secret:prod", "secret:nosuch", "one,two"} {
		s.call(h, "application/json", "", header("X-Hook-Secret", secret)).wantProblem(t, 401, "signature-missing")
	}
	s.call(h, "application/json", "", header("X-Hook-Secret", "plain")).wantStatus(t, 200)
}

// TestRefusalsTellNoPayload: what is said of a payload that does not meet its schema
// is short, and has no values of it, neither in the quarantine nor on the disk.
func TestRefusalsTellNoPayload(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.schema", "maxPayloadLength", 4<<20,
		"schema", `{"properties":{"a":{"pattern":"^x$"},"b":{"maximum":5}},"additionalProperties":{"items":{"type":"string"}}}`)
	got := s.call(h, "application/json", `{"a":"CANARY-TEXT","b":4711081547110815,"`+strings.Repeat("n", 1<<20)+`":[`+strings.Repeat("1,", 50)+`1]}`)
	got.wantProblem(t, 422, "payload-invalid")
	if len(got.body) > 16<<10 {
		t.Errorf("the answer has %d bytes", len(got.body))
	}
	s.call(h, "application/json", `{"a":"CANARY-TEXT","b":4711081547110815}`).wantProblem(t, 422, "payload-invalid")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a-viewer-of-calls", "roles": []string{"viewer"}}).wantStatus(t, 200)
	shown := s.command("quarantine.get", map[string]any{"brief": true}, func(r *http.Request) { r.SetBasicAuth("vera", "a-viewer-of-calls") }).wantStatus(t, 200)
	if text := string(shown.body); strings.Contains(text, "CANARY") || strings.Contains(text, "4711081547110815") || strings.Contains(text, "nnnn") || !strings.Contains(text, "payload-invalid") {
		t.Errorf("a viewer sees %.2000s", text)
	}
	shown = s.command("quarantine.get", map[string]any{"brief": true}).wantStatus(t, 200)
	if text := string(shown.body); !strings.Contains(text, `"/a"`) || !strings.Contains(text, "must be at most 5") {
		t.Errorf("the operator sees %.2000s", text)
	}
	s.stop()
	err := filepath.WalkDir(s.config.Data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), "CANARY") {
			t.Errorf("%s has the payload in it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
