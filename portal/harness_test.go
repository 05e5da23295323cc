package portal_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice/config"
	"sluice/serve"
)

const (
	adminPassword = "correct horse battery staple"
	receivePath   = "/api/v3/command/webhook.receive"

	// patience bounds every wait of these tests: reaching it is a failure.
	patience = 3 * time.Minute

	// untilDone lets calls wait until their pipelines are done, however long that
	// takes. It is less than patience: a call that waited in vain is answered.
	untilDone = "result-wait=50s"
)

// A service is a real server on a port and a folder of its own.
type service struct {
	t        *testing.T
	config   config.Config
	server   *serve.Server // nil while stopped
	timeouts serve.Timeouts
}

// start runs a server until the test ends. Settings are written "name=value".
func start(t *testing.T, settings ...string) *service {
	t.Helper()
	return startFor(t, serve.Timeouts{}, settings...)
}

// startFor runs a server with other time-outs than the usual ones.
func startFor(t *testing.T, timeouts serve.Timeouts, settings ...string) *service {
	t.Helper()
	flags := map[string]string{"listen": "127.0.0.1:0", "data": t.TempDir(), "min-free-disk": "1MiB"}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		flags[name] = value
	}
	cfg, err := config.Load("", nil, flags)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, config: cfg, timeouts: timeouts}
	s.resume()
	t.Cleanup(s.stop)
	return s
}

// resume starts the server, again if it was stopped.
func (s *service) resume() {
	s.t.Helper()
	server, err := serve.Start(s.t.Context(), s.config, serve.Options{AdminPassword: adminPassword, Log: slog.New(slog.DiscardHandler), Timeouts: s.timeouts})
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = server
	if _, _, err := server.CreateAdmin(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) stop() {
	if s.server == nil {
		return
	}
	if err := s.server.Stop(); err != nil {
		s.t.Errorf("stop: %v", err)
	}
	s.server = nil
}

func (s *service) base() string { return "http://" + s.server.Address() }

// command runs a command of the API as the admin.
func (s *service) command(name string, params map[string]any) map[string]any {
	s.t.Helper()
	content, err := json.Marshal(params)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.base()+"/api/v3/command/"+name, strings.NewReader(string(content)))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("admin", adminPassword)
	r.Header.Set("Content-Type", "application/json")
	got := s.do(r)
	if got.status != http.StatusOK {
		s.t.Fatalf("%s answered %d: %s", name, got.status, got.body)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(got.body), &object); err != nil {
		s.t.Fatalf("%v: %s", err, got.body)
	}
	return object
}

// store stores a pipeline.
func (s *service) store(name, source string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "PUT", s.base()+"/api/v3/pipeline/"+name, strings.NewReader(source))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("admin", adminPassword)
	if got := s.do(r); got.status != http.StatusOK {
		s.t.Fatalf("pipeline.put answered %d: %s", got.status, got.body)
	}
}

// token returns the token of a webhook.
func (s *service) token(eventKey string) string {
	s.t.Helper()
	return s.command("webhook.get", map[string]any{"eventKey": eventKey})["uuid"].(string)
}

// call calls a webhook and gives the trace id.
func (s *service) call(token, contentType, body string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.base()+receivePath, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Token", token)
	r.Header.Set("Content-Type", contentType)
	return s.do(r).header.Get("svc-trace-id")
}

// do makes a request without a session.
func (s *service) do(r *http.Request) answer {
	s.t.Helper()
	return send(s.t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}, r)
}

// An answer is a response with its whole body.
type answer struct {
	status int
	header http.Header
	body   string
}

func send(t *testing.T, client *http.Client, r *http.Request) answer {
	t.Helper()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, readAll(t, response)}
}

func readAll(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// A visitor gets pages without a browser, and does not follow redirects.
type visitor struct {
	t      *testing.T
	s      *service
	client *http.Client
}

func (s *service) visitor() *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &visitor{s.t, s, &http.Client{
		Jar: jar, Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn returns a visitor who is signed in.
func (s *service) signedIn(username, password string) *visitor {
	s.t.Helper()
	v := s.visitor()
	if got := v.post("/signin", "username", username, "password", password); got.status != http.StatusSeeOther {
		s.t.Fatalf("the sign-in answered %d: %s", got.status, got.body)
	}
	return v
}

func (v *visitor) get(path string) answer {
	v.t.Helper()
	return v.send("GET", path, "")
}

// post sends a form of pairs of name and value.
func (v *visitor) post(path string, pairs ...string) answer {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.send("POST", path, form.Encode())
}

func (v *visitor) send(method, path, form string, alterations ...func(*http.Request)) answer {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.s.base()+path, strings.NewReader(form))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, alter := range alterations {
		alter(r)
	}
	return send(v.t, v.client, r)
}

// wants ends the test if the answer has another status, or lacks a text.
func (a answer) wants(t *testing.T, status int, texts ...string) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("answered %d, want %d: %s", a.status, status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Fatalf("the page lacks %q: %s", text, a.body)
		}
	}
	return a
}

// lacks ends the test if the answer has a text in it.
func (a answer) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Fatalf("the page has %q in it: %s", text, a.body)
		}
	}
}
