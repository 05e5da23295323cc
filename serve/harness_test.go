package serve_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/config"
	"sluice/serve"
)

const (
	adminPassword = "correct horse battery staple"
	receivePath   = "/api/v3/command/webhook.receive"
	resultPath    = "/api/v3/result"

	// patience bounds every wait of these tests. It is far longer than what is
	// waited for ever takes: reaching it is a failure.
	patience = 3 * time.Minute

	// never is longer than a test takes: waiting for so long is a failure.
	never = time.Hour

	// untilDone lets calls wait until their pipelines are done, however long that
	// takes. It is less than patience: a call that waited in vain is answered.
	untilDone = "result-wait=50s"
)

// A service is a real server on a port and a folder of its own.
type service struct {
	t      *testing.T
	config config.Config
	server *serve.Server // nil while stopped
	log    *transcript
	client *http.Client
	hurry  chan struct{} // nil: a stop takes its time

	timeouts serve.Timeouts

	senders http.RoundTripper // stands for the Internet; nil: the Internet
}

// start runs a server until the test ends. Settings are written "name=value".
func start(t *testing.T, settings ...string) *service {
	t.Helper()
	return startFor(t, serve.Timeouts{}, settings...)
}

// startFor runs a server with other time-outs than the usual ones.
func startFor(t *testing.T, timeouts serve.Timeouts, settings ...string) *service {
	t.Helper()
	s := &service{t: t, config: load(t, newFolder(t), settings...), log: new(transcript), client: newClient(), timeouts: timeouts}
	s.resume()
	t.Cleanup(s.stop)
	return s
}

// startHurried runs a server whose stop waits for nothing any more once hurry is
// closed, and for calls in flight for ever before that.
func startHurried(t *testing.T, settings ...string) *service {
	t.Helper()
	s := &service{t: t, config: load(t, newFolder(t), settings...), log: new(transcript), client: newClient(), hurry: make(chan struct{}), timeouts: serve.Timeouts{Drain: never}}
	s.resume()
	t.Cleanup(s.stop)
	return s
}

// startWith runs a server for which a function stands for the Internet.
func startWith(t *testing.T, senders roundTrip, settings ...string) *service {
	t.Helper()
	s := &service{t: t, config: load(t, newFolder(t), settings...), log: new(transcript), client: newClient(), senders: senders}
	s.resume()
	t.Cleanup(s.stop)
	return s
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// load returns the settings of a server under test.
func load(t *testing.T, data string, settings ...string) config.Config {
	t.Helper()
	flags := map[string]string{"listen": "127.0.0.1:0", "data": data, "min-free-disk": "1MiB"}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		flags[name] = value
	}
	cfg, err := config.Load("", nil, flags)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// newClient returns a client that shows redirects instead of following them.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// resume starts the server, again if it was stopped.
func (s *service) resume() {
	s.t.Helper()
	if err := s.tryResume(); err != nil {
		s.t.Fatal(err)
	}
}

// tryResume starts the server, which may fail.
func (s *service) tryResume() error {
	server, err := serve.Start(s.t.Context(), s.config, serve.Options{AdminPassword: adminPassword, Log: s.log.logger(), Hurry: s.hurry, Timeouts: s.timeouts, SenderTransport: s.senders})
	if err != nil {
		return err
	}
	s.server = server
	_, _, err = server.CreateAdmin(s.t.Context())
	return err
}

// stop ends the server, if it runs.
func (s *service) stop() {
	s.client.CloseIdleConnections()
	if s.server == nil {
		return
	}
	if err := s.server.Stop(); err != nil {
		s.t.Errorf("stop: %v", err)
	}
	s.server = nil
	if !s.t.Failed() {
		return
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			s.t.Log(line)
		}
	}
}

// A transcript collects what a server writes.
type transcript struct {
	mu      sync.Mutex
	written bytes.Buffer
}

// Write implements io.Writer.
func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.Write(p)
}

// String returns all that was written.
func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.String()
}

func (l *transcript) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// An answer is a response with its whole body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return http.StatusText(a.status) + ": " + string(a.body) }

// into decodes a JSON body.
func (a answer) into(t *testing.T, target any) {
	t.Helper()
	if err := json.Unmarshal(a.body, target); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

// object returns a body that is a JSON object.
func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	a.into(t, &o)
	return o
}

// wantStatus ends the test if the answer has another status.
func (a answer) wantStatus(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("answered %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// wantProblem checks that the answer is a problem document with that status and
// code, and gives the document.
func (a answer) wantProblem(t *testing.T, status int, code string) map[string]any {
	t.Helper()
	a.wantStatus(t, status)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type is %q, want application/problem+json", got)
	}
	problem := a.object(t)
	if problem["code"] != code {
		t.Errorf("code is %v, want %s: %s", problem["code"], code, a.body)
	}
	if problem["status"] != float64(status) || problem["statusCode"] != float64(status) {
		t.Errorf("status and statusCode are %v and %v, want %d", problem["status"], problem["statusCode"], status)
	}
	for _, field := range []string{"type", "title", "detail"} {
		if text, _ := problem[field].(string); text == "" {
			t.Errorf("the problem has no %s: %s", field, a.body)
		}
	}
	return problem
}

// send makes a request; an alteration changes it before it is sent.
func (s *service) send(method, target string, body io.Reader, alterations ...func(*http.Request)) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base()+target, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, alter := range alterations {
		alter(r)
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, content}
}

// base is the URL of the server's port, whatever its public URL is.
func (s *service) base() string {
	if s.config.TLSCert != "" {
		return "https://" + s.server.Address()
	}
	return "http://" + s.server.Address()
}

// header alters a request to carry a header.
func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

// asAdmin alters a request to come from the admin.
func asAdmin(r *http.Request) { r.SetBasicAuth("admin", adminPassword) }

// command runs a command as the admin, with parameters as JSON.
func (s *service) command(name string, params map[string]any, alterations ...func(*http.Request)) answer {
	s.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	content, err := json.Marshal(params)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send("POST", "/api/v3/command/"+name, bytes.NewReader(content), append([]func(*http.Request){asAdmin, header("Content-Type", "application/json")}, alterations...)...)
}

// A hook is a webhook as webhook.put answers it.
type hook struct {
	UUID             string    `json:"uuid"`
	EventKey         string    `json:"eventKey"`
	PayloadType      string    `json:"payloadType"`
	MaxPayloadLength int       `json:"maxPayloadLength"`
	WebhookURL       string    `json:"webhookUrl"`
	Created          time.Time `json:"created"`
	Updated          time.Time `json:"updated"`
	Warnings         []string  `json:"warnings"`
}

// last6 is the part of the token that anyone may see.
func (h hook) last6() string { return h.UUID[len(h.UUID)-6:] }

// create makes a webhook; more parameters come as name, value, name, value.
func (s *service) create(eventKey string, more ...any) hook {
	s.t.Helper()
	params := map[string]any{"eventKey": eventKey}
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	var h hook
	s.command("webhook.put", params).wantStatus(s.t, http.StatusOK).into(s.t, &h)
	return h
}

// call calls a webhook with its token in the header.
func (s *service) call(h hook, contentType, body string, alterations ...func(*http.Request)) answer {
	s.t.Helper()
	alterations = append([]func(*http.Request){header("Token", h.UUID), header("Content-Type", contentType)}, alterations...)
	return s.send("POST", receivePath, strings.NewReader(body), alterations...)
}

// poll asks for the result of a call.
func (s *service) poll(correlationID string) answer {
	s.t.Helper()
	return s.send("GET", resultPath+"?svc-result-correlationid="+url.QueryEscape(correlationID), nil)
}

// eventually tries again and again until it is satisfied.
func eventually(t *testing.T, what string, try func() bool) {
	t.Helper()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	deadline := time.Now().Add(patience)
	for !try() {
		if (<-pace.C).After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// decode returns a JSON value with its numbers as they are written.
func decode(t *testing.T, content []byte) (value any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, content)
	}
	return value
}
