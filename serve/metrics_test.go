package serve_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/serve"
)

// metric returns the value of a metric as /metrics has it, "" if it is not
// there.
func (s *service) metric(name string) string {
	s.t.Helper()
	got := s.send("GET", "/metrics", nil, asAdmin).wantStatus(s.t, http.StatusOK)
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(got.body)
	if line == nil {
		return ""
	}
	return string(line[1])
}

// TestMetricsCount: what happens is counted, and nothing else.
func TestMetricsCount(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.counted", "maxPayloadLength", 100)
	s.send("PUT", "/api/v3/pipeline/counted", strings.NewReader(`
pipeline:
- event.listen: {eventKey: webhook.counted}
- fail: {if: "body.method == 'GET'", message: no}
`), asAdmin).wantStatus(t, 200)
	var last answer
	for range 3 {
		last = s.call(h, "text/plain", "hi").wantStatus(t, 200)
	}
	s.send("GET", receivePath, nil, header("Token", h.UUID)).wantStatus(t, 200)
	s.call(h, "text/plain", strings.Repeat("x", 101)).wantStatus(t, 413)
	s.send("GET", receivePath, nil).wantStatus(t, 401)
	s.poll(last.header.Get("Svc-Result-Correlationid")).wantStatus(t, 200)
	s.poll("unknown").wantStatus(t, 410)
	s.send("GET", "/api/v3/command/iam.whoami", nil, header("Authorization", basic("admin", "wrong"))).wantStatus(t, 401)
	for name, want := range map[string]string{
		`sluice_calls_total{status="200"}`:                          "4",
		`sluice_calls_total{status="413"}`:                          "1",
		`sluice_calls_total{status="401"}`:                          "1",
		`sluice_accept_seconds_count`:                               "4",
		`sluice_call_bytes_count`:                                   "6",
		`sluice_runs_total{outcome="ok",pipeline="counted"}`:        "3",
		`sluice_runs_total{outcome="error",pipeline="counted"}`:     "1",
		`sluice_sync_batch_messages_sum{stream="EVENTS"}`:           "4",
		`sluice_polls_total{status="200"}`:                          "1",
		`sluice_polls_total{status="410"}`:                          "1",
		`sluice_logins_total{outcome="invalid",scheme="basic"}`:     "1",
		`sluice_dead_letters{pipeline="counted"}`:                   "1",
		`sluice_results`:                                            "4",
		`sluice_events`:                                             "4",
		`sluice_webhooks`:                                           "1",
		`sluice_events_waiting{pipeline="counted"}`:                 "0",
		`sluice_engine_ready`:                                       "1",
		`sluice_token_requests_total{grant="password",outcome="x"}`: "",
	} {
		eventually(t, name+" is "+want, func() bool { return s.metric(name) == want })
	}
	if got := s.send("GET", "/metrics", nil, asAdmin).wantStatus(t, 200); strings.Contains(string(got.body), h.UUID) || strings.Contains(string(got.body), traceOf(last)) {
		t.Error("a token or a trace id is in the metrics")
	}
}

// TestMetricsOfHops: calls of others are counted by where they went, unless only the call that came in
// has named that.
func TestMetricsOfHops(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer target.Close()
	s := start(t, "http-allow=127.0.0.0/8")
	h := s.create("webhook.hops", "payloadType", "raw")
	s.store("hops", "vars: {host: '#{body.payload.host}'}\npipeline:\n- event.listen: {eventKey: webhook.hops}\n- iam.run.as: {username: admin}\n- foreach: {in: '#{1..3}', do: [http.request: {url: \""+target.URL+"/path\"}]}\n"+
		"- http.request: {url: 'http://#{vars.host}/', onError: ignore}\n")
	s.call(h, "application/json", `{"host":"127.1.2.3:1"}`).wantStatus(t, 200)
	host := strings.TrimPrefix(target.URL, "http://")
	for name, want := range map[string]string{
		`sluice_hops_total{command="http.request",host="` + host + `",status="418"}`: "3",
		`sluice_hops_total{command="http.request",host="",status="none"}`:            "1",
		`sluice_hop_seconds_count{command="http.request"}`:                           "4",
	} {
		eventually(t, name+" is "+want, func() bool { return s.metric(name) == want })
	}
}

// TestMetricsAreForThoseWhoMay: users with the permission, from this machine as
// from elsewhere, and anyone at an address of their own.
func TestMetricsAreForThoseWhoMay(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.send("GET", "/metrics", nil).wantProblem(t, 401, "authorization-missing")
	s.send("POST", "/metrics", nil).wantProblem(t, 405, "method-not-allowed")
	s.send("GET", "/metrics", nil, asAdmin).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "vi", "password": "a password", "roles": "viewer"}).wantStatus(t, 200)
	s.send("GET", "/metrics", nil, header("Authorization", basic("vi", "a password"))).wantProblem(t, 403, "forbidden")
}

// startMeasured runs a server whose metrics have an address of their own. It has to
// be known before, so it can be taken meanwhile: then another one will do.
func startMeasured(t *testing.T, timeouts serve.Timeouts) *service {
	t.Helper()
	s := &service{t: t, config: load(t, newFolder(t)), log: new(transcript), client: newClient(), timeouts: timeouts}
	t.Cleanup(s.stop)
	var err error
	for range 5 {
		free, failed := net.Listen("tcp", "127.0.0.1:0")
		if failed != nil {
			t.Fatal(failed)
		}
		s.config.MetricsListen = free.Addr().String()
		_ = free.Close()
		if err = s.tryResume(); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

// TestMetricsOfTheirOwnAddress: anyone who reaches it sees them and nothing else, and
// a client that never reads is gone soon.
func TestMetricsOfTheirOwnAddress(t *testing.T) {
	t.Parallel()
	s := startMeasured(t, serve.Timeouts{Write: 2 * time.Second})
	address := s.config.MetricsListen
	for path, want := range map[string]int{"/metrics": 200, "/": 404, "/api/v3/command/iam.whoami": 404, "/openapi.json": 404} {
		answer, err := s.client.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s is answered %d, want %d", path, answer.StatusCode, want)
		}
	}
	client, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(patience))
	for err == nil {
		_, err = io.WriteString(client, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 1000))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a client that never reads stays")
	}
}

// TestListenersBesideTheMainOne: a head of many lines is refused there as well, and nobody waits
// for a body that is not wanted.
func TestListenersBesideTheMainOne(t *testing.T) {
	t.Parallel()
	s := startMeasured(t, serve.Timeouts{Write: 2 * time.Second, BodyIdle: time.Hour})
	for head, want := range map[string]string{
		"GET /metrics HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("a: b\r\n", 5000) + "Content-Length: 9\r\n\r\n": "431",
		"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n":                                     "405",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n":                                      "200",
	} {
		client, err := net.Dial("tcp", s.config.MetricsListen)
		if err != nil {
			t.Fatal(err)
		}
		_ = client.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(client, head) // it may be refused before its end
		answer, err := io.ReadAll(client)
		if _, status, _ := strings.Cut(string(answer), " "); !strings.HasPrefix(status, want) || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.40q is answered %.20q, want %s, and closed with %v", head, answer, want, err)
		}
		_ = client.Close()
	}
}
