package serve_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sluice"
	"sluice/serve"
)

// TestOneUserDoesNotStarveOthers: whoever has as many calls in flight as one user
// may is refused, and webhooks and other users are served.
func TestOneUserDoesNotStarveOthers(t *testing.T) {
	t.Parallel()
	s := start(t, "max-in-flight=80") // 10 of them for one user
	hook := s.create("webhook.open")
	asGreedy := s.user("greedy", "event.get", "trace.payload", "iam.whoami")
	s.send("GET", "/api/v3/command/iam.whoami", nil, asGreedy).wantStatus(t, 200) // the password is remembered from now on
	var held []*wire
	for range 60 {
		w := s.dial(t)
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
		asGreedy(r)
		w.say(request("GET /api/v3/command/event.get?eventKey=webhook.none&wait=50s HTTP/1.1", "Host: sluice", "Authorization: "+r.Header.Get("Authorization")))
		held = append(held, w)
	}
	eventually(t, "the share to be taken", func() bool {
		return s.send("GET", "/api/v3/command/iam.whoami", nil, asGreedy).status == http.StatusTooManyRequests
	})
	refused := s.send("GET", "/api/v3/pipeline/x", nil, asGreedy)
	refused.wantProblem(t, 429, "too-many-calls")
	wantRetryAfter(t, refused)
	for range 20 {
		s.call(hook, "text/plain", "hi").wantStatus(t, 200)
		s.command("server.info", nil).wantStatus(t, 200)
	}
	for _, w := range held {
		_ = w.Close()
	}
	eventually(t, "the share to be given back", func() bool {
		return s.send("GET", "/api/v3/command/iam.whoami", nil, asGreedy).status == http.StatusOK
	})
}

// TestTestsOfOneUser: they keep cores busy, so they are few.
func TestTestsOfOneUser(t *testing.T) {
	t.Parallel()
	s := start(t)
	// Rounds without end, which the limit on time ends.
	source := "pipeline:\n- foreach: {in: '#{1..9000}', do: [{set: {value: '#{map(1..20000, # * 2)}'}}]}\ntests:\n- {name: long, body: 1}\n"
	asVera := s.user("vera", "pipeline.test", "iam.whoami")
	s.send("GET", "/api/v3/command/iam.whoami", nil, asVera).wantStatus(t, 200) // her password is remembered from now on
	test := func(as func(*http.Request)) answer {
		return s.send("POST", "/api/v3/command/pipeline.test", strings.NewReader(source), as, header("Content-Type", "application/yaml"))
	}
	var all sync.WaitGroup
	refused := make(chan answer, 3)
	for range 3 {
		all.Go(func() { refused <- test(asVera) })
	}
	(<-refused).wantProblem(t, 429, "too-many-tests")
	s.send("POST", "/api/v3/command/pipeline.test", strings.NewReader("pipeline: [set: {value: 1}]"), asAdmin).wantStatus(t, 200)
	all.Wait()
}

// TestStepsDoNothingByThemselves: over HTTP they would only hold a place.
func TestStepsDoNothingByThemselves(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, params := range map[string]map[string]any{
		"wait": {"duration": "15m"}, "log": {"message": "x"}, "set": {"value": 1}, "exit": nil, "fail": {"message": "x"}, "assert": {"true": true},
	} {
		s.command(name, params).wantProblem(t, 400, "not-in-a-pipeline")
	}
}

// TestAbandonedCalls: who goes before the answer leaves no error in the log.
func TestAbandonedCalls(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "http-allow=127.0.0.0/8")
	w := s.dial(t)
	source := "pipeline: [http.request: {url: '" + o.url + "/begun'}, wait: {duration: 5m}]"
	w.say(request("POST /api/v3/pipeline HTTP/1.1", "Host: sluice", "Authorization: "+basic("admin", adminPassword), "Content-Length: "+strconv.Itoa(len(source))) + source)
	o.next()
	_ = w.Close()
	s.stop() // which waits for it
	if log := s.log.String(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log has %s", log)
	}
}

// TestHalfClosedClients: one that has said all it has to say, and closed its half
// of the connection, gets the answer that others get.
func TestHalfClosedClients(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.half")
	s.store("half", listening("webhook.half", "wait: {duration: 300ms}", "set: {value: whole}"))
	for name, more := range map[string]string{"the lane": "X-More: none", "net/http": "Transfer-Encoding: chunked"} {
		w := s.dial(t)
		body := "2\r\nhi\r\n0\r\n\r\n"
		if !strings.HasPrefix(more, "Transfer") {
			more += "\r\nContent-Length: 2"
			body = "hi"
		}
		w.say(request("POST "+receivePath+" HTTP/1.1", "Host: sluice", "Token: "+hook.UUID, more) + body)
		if err := w.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got := w.hear(http.MethodPost).wantStatus(t, 200).result(t); got.Value != "whole" {
			t.Errorf("%s answers %+v", name, got)
		}
	}
}

// TestTheAuditLogIsCopied: as JSON lines, for what collects logs.
func TestTheAuditLogIsCopied(t *testing.T) {
	t.Parallel()
	copied := new(transcript)
	cfg := load(t, newFolder(t), "audit-log=true")
	server, err := serve.Start(t.Context(), cfg, serve.Options{AdminPassword: adminPassword, Log: new(transcript).logger(), AuditLog: copied})
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, config: cfg, server: server, log: new(transcript), client: newClient()}
	t.Cleanup(s.stop)
	if _, _, err := server.CreateAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.create("webhook.copied")
	asVera := s.user("vera", "iam.whoami")
	const calls = 100
	for range calls {
		s.send("GET", "/api/v3/command/webhook.get", nil, asVera).wantStatus(t, 403)
	}
	s.stop() // enters what was counted
	refused := 0
	for line := range strings.Lines(copied.String()) {
		var e sluice.AuditEntry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Command == "webhook.get" {
			refused += max(1, e.Count)
		}
	}
	if refused != calls || !strings.Contains(copied.String(), `"command":"webhook.put","target":"webhook.copied","outcome":"allowed"`) {
		t.Errorf("%d of %d refusals are in the copy:\n%s", refused, calls, copied)
	}
}

// TestAWeakFirstPasswordStopsTheStart: and says what to do.
func TestAWeakFirstPasswordStopsTheStart(t *testing.T) {
	t.Parallel()
	cfg := load(t, t.TempDir())
	for _, password := range []string{"tour", "password1"} {
		err := serve.Run(t.Context(), cfg, serve.Options{AdminPassword: password, Log: new(transcript).logger()}, new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), "SLUICE_ADMIN_PASSWORD") {
			t.Errorf("with %s it ended with %v", password, err)
		}
	}
}

// TestCallsBeforeTheAdmin: until there is one, credentials are not called wrong.
func TestCallsBeforeTheAdmin(t *testing.T) {
	t.Parallel()
	s := &service{t: t, config: load(t, t.TempDir()), log: new(transcript), client: newClient()}
	server, err := serve.Start(t.Context(), s.config, serve.Options{AdminPassword: adminPassword, Log: s.log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	s.server = server
	t.Cleanup(s.stop)
	for range 10 { // more than wrong passwords are free
		s.command("server.info", nil).wantProblem(t, 503, "starting")
	}
	s.send("GET", "/api/v3/command/server.info", nil).wantProblem(t, 503, "starting")
	form := header("Content-Type", "application/x-www-form-urlencoded")
	login := "grant_type=password&client_id=sluice&username=admin&password=" + strings.ReplaceAll(adminPassword, " ", "+")
	s.send("POST", "/auth/realms/default/protocol/openid-connect/token", strings.NewReader(login), form).wantStatus(t, 503)
	s.send("POST", "/signin", strings.NewReader("username=admin&password=x"), form).wantStatus(t, 503)
	if _, _, err := server.CreateAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.command("server.info", nil).wantStatus(t, 200)
	s.send("GET", "/api/v3/command/server.info", nil).wantProblem(t, 401, "authorization-missing")
}
