package serve_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/sender"
)

// publicURL is what senders have been told; they reach the port in another way.
const publicURL = "https://hooks.example.com/in"

// hexMAC signs as GitHub and others do.
func hexMAC(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// asSender calls a webhook as a verifier's sender would, with the token in the
// query.
func (s *service) asSender(h hook, v *sender.Verifier, c sender.Call) answer {
	s.t.Helper()
	c.URL = publicURL + receivePath + "?token=" + h.UUID
	if v != nil {
		if err := v.Sign(&c, time.Now()); err != nil {
			s.t.Fatal(err)
		}
	}
	return s.send(c.Method, receivePath+"?token="+h.UUID, bytes.NewReader(c.Body), func(r *http.Request) { maps.Copy(r.Header, c.Header) })
}

// secretsOf returns signing secrets as a provider has them, and one of its calls.
func secretsOf(t *testing.T, provider string) (secrets []string, body, contentType string) {
	t.Helper()
	var file struct {
		Secrets []string `json:"secrets"`
		Calls   []struct {
			Header map[string]string `json:"header"`
			Body   string            `json:"body"`
			Want   string            `json:"want"`
			Method string            `json:"method"`
		} `json:"calls"`
	}
	content, err := os.ReadFile(filepath.Join("..", "sender", "known", provider, "vectors.json"))
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Calls {
		if c.Want == "ok" && c.Method == "POST" {
			for name, value := range c.Header {
				if strings.EqualFold(name, "Content-Type") {
					contentType = value
				}
			}
			return file.Secrets, c.Body, contentType
		}
	}
	t.Fatalf("%s has no call", provider)
	return nil, "", ""
}

// TestProvidersAreVerified: for each provider whose calls can be made here, its
// calls are taken, and those of others are not: with every type of payload.
func TestProvidersAreVerified(t *testing.T) {
	t.Parallel()
	s := start(t, "public-url="+publicURL)
	types := []string{"base64", "raw", "ignore"}
	for i, p := range sender.Presets() {
		secrets, body, contentType := secretsOf(t, p.Name)
		if plain := map[string]string{"figma": `{"event_type":"PING"}`, "linear": `{"action":"create"}`, "microsoft-graph": `{"value":[{"id":"1"}]}`}[p.Name]; plain != "" {
			body = plain // those of the vectors carry what is checked
		}
		v, err := sender.New(p, secrets, nil)
		if err != nil {
			t.Fatal(err)
		}
		probe := sender.Call{Method: "POST", URL: publicURL, Header: http.Header{}, Body: []byte(body)}
		if v.Sign(&probe, time.Now()) != nil {
			continue // only the sender has the key
		}
		t.Run(p.Name, func(t *testing.T) {
			h := s.create("webhook.provider."+strings.ReplaceAll(p.Name, ".", "-"), "provider", p.Name, "signingSecret", strings.Join(secrets, ","), "payloadType", types[i%3], "dedupe", "off")
			call := func() sender.Call {
				c := sender.Call{Method: "POST", Header: http.Header{}, Body: []byte(body)}
				if contentType != "" {
					c.Header.Set("Content-Type", contentType)
				}
				return c
			}
			s.asSender(h, v, call()).wantStatus(t, http.StatusOK)
			if len(secrets) == 0 {
				return
			}
			other, err := sender.New(p, []string{otherSecret(secrets[0])}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.asSender(h, other, call()).wantProblem(t, http.StatusUnauthorized, "signature-invalid")
			forged := s.asSender(h, nil, call())
			if forged.status != http.StatusUnauthorized || !strings.Contains(string(forged.body), `"signature-`) {
				t.Errorf("a call without a signature: %s", forged)
			}
			if challenges := forged.header["Www-Authenticate"]; len(challenges) > 0 && !strings.Contains(p.Checks, "password") {
				t.Errorf("a sender is asked for %v", challenges)
			}
		})
	}
}

// otherSecret returns another secret of the same form.
func otherSecret(secret string) string {
	last := secret[len(secret)-1:]
	for _, c := range []string{"A", "B", "0"} {
		if c != last && !strings.HasSuffix(secret, "=") {
			return secret[:len(secret)-1] + c
		}
	}
	return strings.Replace(secret, secret[len(secret)/2:len(secret)/2+2], "Zz", 1)
}

// TestSignaturesCoverWhatWasSent: the bytes as they came, with the token that is
// cut out of a body later, in every way a body can be sent.
func TestSignaturesCoverWhatWasSent(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.signed", "signature", map[string]any{"header": "X-Signature", "format": "sha256={signature}"}, "signingSecret", "old,new", "payloadType", "raw")
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	_ = parts.WriteField("token", h.UUID)
	_ = parts.WriteField("subject", "hi")
	if err := parts.Close(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ contentType, body string }{
		"json":      {"application/json", fmt.Sprintf(`{"a": 1, "token": %q}`, h.UUID)},
		"form":      {"application/x-www-form-urlencoded", "a=1&token=" + h.UUID + "&b=2"},
		"multipart": {parts.FormDataContentType(), form.String()},
	} {
		t.Run(name, func(t *testing.T) {
			for secret, status := range map[string]int{"old": 200, "new": 200, "other": 401} {
				got := s.send("POST", receivePath, strings.NewReader(test.body), header("Content-Type", test.contentType), header("X-Signature", "sha256="+hexMAC(secret, test.body)))
				if got.status != status {
					t.Errorf("with the secret %s: %s", secret, got)
				}
			}
			s.send("POST", receivePath, strings.NewReader(test.body), header("Content-Type", test.contentType)).wantProblem(t, 401, "signature-missing")
		})
	}
	s.send("GET", receivePath+"?token="+h.UUID, nil, header("X-Signature", "sha256="+hexMAC("new", ""))).wantStatus(t, 200)
	if events := s.accepted(h); events != 7 {
		t.Errorf("%d events, want 7", events)
	}
}

// accepted counts the stored events of a webhook.
func (s *service) accepted(h hook) int {
	s.t.Helper()
	return len(s.callsOf(h, "ok"))
}

// callsOf returns the calls of a webhook that have come so far.
func (s *service) callsOf(h hook, status string) []map[string]any {
	s.t.Helper()
	var page struct {
		Items []map[string]any `json:"items"`
	}
	s.command("trace.get", map[string]any{"eventKey": h.EventKey, "status": status, "limit": 1000}).wantStatus(s.t, 200).into(s.t, &page)
	return page.Items
}

// TestHandshakes: senders get the answer they demand, byte for byte, no event is
// made, and the handshake is found again.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	s := start(t)
	signSlack := func(body string) []func(*http.Request) {
		at := fmt.Sprint(time.Now().Unix())
		return []func(*http.Request){header("X-Slack-Request-Timestamp", at), header("X-Slack-Signature", "v0="+hexMAC("s3cret", "v0:"+at+":"+body))}
	}
	slack := `{"type":"url_verification","challenge":"3eZbrw1aB"}`
	tests := map[string]struct {
		provider string
		more     []any
		method   string
		query    string
		body     string
		alter    []func(*http.Request)
		status   int
		want     string
		header   map[string]string
	}{
		"slack":              {provider: "slack", more: []any{"signingSecret", "s3cret"}, method: "POST", body: slack, alter: signSlack(slack), status: 200, want: `3eZbrw1aB`},
		"slack, forged":      {provider: "slack", more: []any{"signingSecret", "s3cret"}, method: "POST", body: slack, status: 401},
		"meta":               {provider: "meta", more: []any{"signingSecret", "s", "verifyToken", "vt"}, method: "GET", query: "&hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=vt", status: 200, want: "1158201444"},
		"meta, wrong token":  {provider: "meta", more: []any{"signingSecret", "s", "verifyToken", "vt"}, method: "GET", query: "&hub.mode=subscribe&hub.challenge=1&hub.verify_token=no", status: 403},
		"graph":              {provider: "microsoft-graph", method: "POST", query: "&validationToken=a%20b", status: 200, want: "a b"},
		"trello":             {provider: "trello", more: []any{"signingSecret", "s"}, method: "HEAD", status: 200},
		"a HEAD elsewhere":   {provider: "github", more: []any{"signingSecret", "s"}, method: "HEAD", status: 405},
		"event grid":         {provider: "azure-event-grid", method: "OPTIONS", alter: []func(*http.Request){header("WebHook-Request-Origin", "eventgrid.azure.net")}, status: 200, header: map[string]string{"WebHook-Allowed-Origin": "eventgrid.azure.net"}},
		"cloudevents":        {provider: "cloudevents", method: "OPTIONS", alter: []func(*http.Request){header("WebHook-Request-Origin", "a.example")}, status: 200, header: map[string]string{"WebHook-Allowed-Origin": "a.example"}},
		"OPTIONS elsewhere":  {provider: "github", more: []any{"signingSecret", "s"}, method: "OPTIONS", alter: []func(*http.Request){header("WebHook-Request-Origin", "a.example")}, status: 405},
		"event grid, a code": {provider: "azure-event-grid", method: "POST", body: `[{"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","data":{"validationCode":"512"}}]`, status: 200, want: `{"validationResponse":"512"}`},
	}
	n := 0
	for name, test := range tests {
		n++
		t.Run(name, func(t *testing.T) {
			h := s.create(fmt.Sprintf("webhook.handshake.n%d", n), append([]any{"provider", test.provider}, test.more...)...)
			got := s.send(test.method, receivePath+"?token="+h.UUID+test.query, strings.NewReader(test.body), test.alter...)
			got.wantStatus(t, test.status)
			if test.status == 200 && !strings.Contains(string(got.body), test.want) {
				t.Errorf("the answer is %q, want %q", got.body, test.want)
			}
			for name, want := range test.header {
				if got.header.Get(name) != want {
					t.Errorf("%s is %q", name, got.header.Get(name))
				}
			}
			if s.accepted(h) != 0 {
				t.Error("there is an event")
			}
			found := s.callsOf(h, "handshake")
			if (test.status == 200) != (len(found) == 1) {
				t.Errorf("found: %v", found)
			}
			s.command("webhook.put", map[string]any{"uuid": h.UUID, "disabled": true}).wantStatus(t, 200)
			if again := s.send(test.method, receivePath+"?token="+h.UUID+test.query, strings.NewReader(test.body), test.alter...); again.status < 400 {
				t.Errorf("disabled, it answers %s", again)
			}
		})
	}
}

// TestAsanaTeachesItsSecret: once; the secret lasts over a restart, and another
// handshake does not replace it until the operator removes it.
func TestAsanaTeachesItsSecret(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.asana", "provider", "asana", "payloadType", "raw")
	s.call(h, "application/json", `{}`, header("X-Hook-Signature", hexMAC("first", "{}"))).wantProblem(t, 401, "signature-missing")
	teach := func(secret string) answer { return s.call(h, "application/json", "", header("X-Hook-Secret", secret)) }
	if got := teach("first"); got.status != 200 || got.header.Get("X-Hook-Secret") != "first" {
		t.Fatalf("the handshake: %s %v", got, got.header)
	}
	s.stop()
	s.resume()
	s.call(h, "application/json", `{}`, header("X-Hook-Signature", hexMAC("first", "{}"))).wantStatus(t, 200)
	if got := teach("first"); got.status != 200 {
		t.Errorf("the same handshake again: %s", got)
	}
	teach("second").wantProblem(t, 401, "signature-missing")
	s.call(h, "application/json", `{}`, header("X-Hook-Signature", hexMAC("second", "{}"))).wantProblem(t, 401, "signature-invalid")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "signingSecret": ""}).wantStatus(t, 200)
	teach("second").wantStatus(t, 200)
	s.call(h, "application/json", `{}`, header("X-Hook-Signature", hexMAC("second", "{}"))).wantStatus(t, 200)
	if shown := s.command("webhook.get", map[string]any{"uuid": h.UUID}).object(t); shown["signingSecrets"] != 1.0 {
		t.Errorf("shown: %v", shown)
	}
}

// TestSNSIsConfirmed: a subscription is confirmed by calling its address, and only
// if AWS has signed it.
func TestSNSIsConfirmed(t *testing.T) {
	t.Parallel()
	var file struct {
		Keys       map[string]string `json:"keys"`
		Handshakes []struct {
			Body   string `json:"body"`
			Answer *struct {
				Fetch string `json:"fetch"`
			} `json:"answer"`
		} `json:"handshakes"`
	}
	content, err := os.ReadFile(filepath.Join("..", "sender", "known", "aws-sns", "vectors.json"))
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	fetched := make(chan string, 10)
	s := startWith(t, func(r *http.Request) (*http.Response, error) {
		body, known := file.Keys[r.URL.String()]
		if !known {
			fetched <- r.URL.String()
		}
		return &http.Response{StatusCode: 200, Status: "200 OK", Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
	})
	h := s.create("webhook.sns", "provider", "aws-sns")
	confirmed := 0
	for _, test := range file.Handshakes {
		got := s.call(h, "text/plain; charset=UTF-8", test.Body)
		if test.Answer == nil || test.Answer.Fetch == "" {
			if got.status == 200 && len(fetched) > 0 {
				t.Errorf("%s: %s, fetched %s", test.Body, got, <-fetched)
			}
			continue
		}
		confirmed++
		got.wantStatus(t, 200)
		if address := <-fetched; address != test.Answer.Fetch {
			t.Errorf("fetched %s, want %s", address, test.Answer.Fetch)
		}
	}
	if confirmed == 0 {
		t.Error("nothing was to be confirmed")
	}
}
