package serve_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/serve"
)

// TestRestart: a server finds again what an earlier one on its folder stored.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := start(t)
	kept := s.create("webhook.kept", "payloadType", "raw", "maxPayloadLength", 10)
	deleted := s.create("webhook.deleted")
	s.command("webhook.delete", map[string]any{"uuid": deleted.UUID}).wantStatus(t, 200)
	first := s.call(kept, "text/plain", "before").wantStatus(t, 200)

	s.stop()
	s.resume()

	var got hook
	s.command("webhook.get", map[string]any{"uuid": kept.UUID}).wantStatus(t, 200).into(t, &got)
	got.WebhookURL = kept.WebhookURL // the port is another one
	if diff := cmp.Diff(kept, got); diff != "" {
		t.Errorf("the webhook is another one (-before +after):\n%s", diff)
	}
	s.call(deleted, "text/plain", "").wantProblem(t, 401, "token-invalid")
	s.call(kept, "text/plain", "longer than ten").wantProblem(t, 413, "payload-too-large")
	s.command("webhook.put", map[string]any{"eventKey": "webhook.kept"}).wantProblem(t, 409, "event-key-taken")
	second := s.call(kept, "text/plain", "after").wantStatus(t, 200)
	wantExactly(t, s.events(), []string{traceOf(first), traceOf(second)})
}

// wantRefusedStart checks that no server starts, with one line that says why.
func wantRefusedStart(t *testing.T, s *service, mentions ...string) {
	t.Helper()
	second, err := serve.Start(t.Context(), s.config, serve.Options{AdminPassword: adminPassword, Log: s.log.logger()})
	if err == nil {
		t.Error("the server started")
		_ = second.Stop()
		return
	}
	for _, word := range mentions {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error is %q, want it to mention %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is more than a line: %q", err)
	}
}

// TestOneServerPerFolder: a second server on a data folder is refused, and the
// first is not disturbed.
func TestOneServerPerFolder(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.first")
	wantRefusedStart(t, s, s.config.Data, "in use", "--data")
	s.call(hook, "text/plain", "hi").wantStatus(t, 200)
}

// TestNewerFolder: a folder in a format of the future is left as it is.
func TestNewerFolder(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.stop()
	format := filepath.Join(s.config.Data, "format")
	if err := os.WriteFile(format, []byte("999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefusedStart(t, s, s.config.Data, "999", "newer")
	if content, _ := os.ReadFile(format); string(content) != "999\n" {
		t.Errorf("the format was changed to %q", content)
	}
}

// TestTakenPort: a port that someone else has is named.
func TestTakenPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := start(t)
	s.stop()
	s.config.Listen = taken.Addr().String()
	wantRefusedStart(t, s, taken.Addr().String())
}

// TestStopLetsCallsFinish: a stop takes nothing new, and waits for what has begun.
func TestStopLetsCallsFinish(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.stop")
	begun := s.begin(t, hook)
	stopped := s.beginStop(t)
	begun.say("hi")
	finished := begun.hear(http.MethodPost).wantStatus(t, http.StatusOK)
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	wantExactly(t, s.events(), []string{traceOf(finished)})
}

// TestCallDuringTheStop: a call that comes on a connection from before the stop is answered
// as ever, and is the last one there.
func TestCallDuringTheStop(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.late")
	late, probe := s.dial(t), s.dial(t) // taken before the next one: connections are taken in turn
	begun := s.begin(t, hook)
	stopped := s.beginStop(t)
	late.say(request("GET "+receivePath+"?token="+hook.UUID+" HTTP/1.1", "Host: sluice"))
	taken := late.hear(http.MethodGet).wantStatus(t, http.StatusOK)
	late.wantClosed()
	probe.say(request("GET /readyz HTTP/1.1", "Host: sluice"))
	unready := probe.hear(http.MethodGet)
	unready.wantProblem(t, http.StatusServiceUnavailable, "draining")
	wantRetryAfter(t, unready)
	begun.say("hi")
	finished := begun.hear(http.MethodPost).wantStatus(t, http.StatusOK)
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	wantExactly(t, s.events(), []string{traceOf(taken), traceOf(finished)})
}

// beginStop stops the server on the side, and returns once its port is closed.
func (s *service) beginStop(t *testing.T) (stopped <-chan error) {
	t.Helper()
	s.client.CloseIdleConnections()
	server, done := s.server, make(chan error, 1)
	s.server = nil
	go func() { done <- server.Stop() }()
	eventually(t, "the port to be closed", func() bool {
		conn, err := net.Dial("tcp", server.Address())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	return done
}

// TestUnreadyBeforeTheStop: load balancers are told first, and calls are taken
// until they have noticed.
func TestUnreadyBeforeTheStop(t *testing.T) {
	t.Parallel()
	s := startHurried(t, "drain-wait="+never.String()) // they never notice
	hook := s.create("webhook.unready")
	server, stopped := s.server, make(chan error, 1)
	go func() { stopped <- server.Stop() }()
	var readiness answer
	eventually(t, "unreadiness", func() bool {
		readiness = s.send("GET", "/readyz", nil)
		return readiness.status != http.StatusOK
	})
	readiness.wantProblem(t, http.StatusServiceUnavailable, "draining")
	wantRetryAfter(t, readiness)
	s.client.CloseIdleConnections()
	s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK) // on a new connection
	s.client.CloseIdleConnections()
	close(s.hurry)
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	s.server = nil
}

// TestDrain: callers that stay away once the server is unready, and go when they are told
// that an answer is the last on its connection, notice nothing of a stop.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := start(t, "drain-wait=2s")
	hook := s.create("webhook.drained")
	var callers sync.WaitGroup
	unready, accepted := make(chan struct{}), make(chan string, 1<<16)
	for i := range 8 {
		client := newClient()
		kept := i%2 == 0
		client.Transport.(*http.Transport).DisableKeepAlives = !kept
		callers.Go(func() {
			for {
				select {
				case <-unready:
					if !kept {
						return
					}
				default:
				}
				response, err := client.Post(hook.WebhookURL, "text/plain", strings.NewReader("x"))
				if err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body) // so that the connection is kept
				_ = response.Body.Close()
				accepted <- response.Header.Get("Svc-Trace-Id")
				if response.StatusCode != http.StatusOK {
					t.Errorf("a call was answered with %s", response.Status)
				}
				if kept && response.Close {
					return
				}
			}
		})
	}
	server, stopped := s.server, make(chan error, 1)
	go func() { stopped <- server.Stop() }()
	eventually(t, "unreadiness", func() bool { return s.send("GET", "/readyz", nil).status != http.StatusOK })
	s.client.CloseIdleConnections()
	close(unready)
	callers.Wait()
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	s.server = nil
	close(accepted)
	var traces []string
	for trace := range accepted {
		traces = append(traces, trace)
	}
	wantExactly(t, s.events(), traces)
}

// TestAStopInAHurry: it waits for no load balancer, no call and no run. Without the hurry
// it would wait for ever.
func TestAStopInAHurry(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := startHurried(t, "http-allow=127.0.0.0/8", "drain-wait="+never.String(), "run-grace="+never.String())
	s.store("held", "pipeline: [event.listen: {eventKey: webhook.hurry}, iam.run.as: {username: admin}, "+o.held()+"]")
	hook := s.create("webhook.hurry")
	begun := s.begin(t, hook)
	s.command("event.send", map[string]any{"eventKey": "webhook.hurry"}).wantStatus(t, http.StatusOK)
	o.next()
	close(s.hurry)
	stopped := s.beginStop(t)
	begun.wantClosed()
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}

// TestFullDisk: calls are refused before the disk is full, as a passing fault of
// ours; what is stored can still be read.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.disk")
	accepted := s.call(hook, "text/plain", "hi").wantStatus(t, 200)
	s.stop()
	s.config.MinFreeDisk = 1 << 60
	s.resume()

	for name, got := range map[string]answer{
		"a call":    s.call(hook, "text/plain", "hi"),
		"a put":     s.command("webhook.put", map[string]any{"eventKey": "webhook.more"}),
		"a delete":  s.command("webhook.delete", map[string]any{"uuid": hook.UUID}),
		"readiness": s.send("GET", "/readyz", nil),
	} {
		t.Run(name, func(t *testing.T) {
			got.wantProblem(t, http.StatusServiceUnavailable, "disk-full")
			wantRetryAfter(t, got)
		})
	}
	s.send("GET", "/healthz", nil).wantStatus(t, 200)
	s.poll(accepted.header.Get("svc-result-correlationid")).wantStatus(t, 200)
	s.command("webhook.get", nil).wantStatus(t, 200)
	wantExactly(t, s.events(), []string{traceOf(accepted)})
}

// TestStopInterruptsLongRuns: a run that a caller waits for does not hold up the
// stop to the end: the caller is told to come again.
func TestStopInterruptsLongRuns(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "http-allow=127.0.0.0/8")
	answers := make(chan answer, 1)
	go func() { answers <- s.run("pipeline: [" + o.held() + ", wait: {duration: 10m}]") }()
	o.next()
	stopped := s.beginStop(t)
	close(o.release)
	interrupted := heard(t, answers)
	interrupted.wantProblem(t, http.StatusServiceUnavailable, "draining")
	wantRetryAfter(t, interrupted)
	s.client.CloseIdleConnections()
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}

// TestCallsAreTakenUntilRunsHaveEnded: the port stays open while a stop waits for
// the runs of pipelines, and what comes meanwhile is run after the next start.
func TestCallsAreTakenUntilRunsHaveEnded(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "http-allow=127.0.0.0/8", "run-grace=1m")
	s.store("held", "pipeline: [event.listen: {eventKey: webhook.held}, iam.run.as: {username: admin}, "+o.held()+"]")
	hook := s.create("webhook.held")
	s.call(hook, "text/plain", "first").wantStatus(t, http.StatusOK)
	o.next()
	server, stopped := s.server, make(chan error, 1)
	go func() { stopped <- server.Stop() }()
	eventually(t, "unreadiness", func() bool { return s.send("GET", "/readyz", nil).status != http.StatusOK })
	s.client.CloseIdleConnections()
	second := s.call(hook, "text/plain", "second").wantStatus(t, http.StatusOK) // on a new connection
	s.client.CloseIdleConnections()
	close(o.release)
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	s.server = nil
	s.resume()
	o.next()
	eventually(t, "the second call is run", func() bool {
		return strings.Contains(string(s.poll(second.header.Get("svc-result-correlationid")).body), `"status":"ok"`)
	})
}

// TestRunsHaveTheirGrace: a run holds up the stop for as long as the setting says, and no
// longer.
func TestRunsHaveTheirGrace(t *testing.T) {
	t.Parallel()
	stop := func(grace string) (*service, *outside, <-chan error) {
		o := newOutside(t)
		s := startHurried(t, "http-allow=127.0.0.0/8", "run-grace="+grace)
		s.store("held", "pipeline: [event.listen: {eventKey: webhook.held}, iam.run.as: {username: admin}, "+o.held()+"]")
		s.call(s.create("webhook.held"), "text/plain", "x").wantStatus(t, http.StatusOK)
		o.next()
		server, stopped := s.server, make(chan error, 1)
		go func() { stopped <- server.Stop() }()
		return s, o, stopped
	}
	patient, released, later := stop(never.String())
	hasty, _, sooner := stop("50ms")
	if err := <-sooner; err != nil {
		t.Errorf("stop: %v", err)
	}
	hasty.server = nil
	eventually(t, "the other one stops", func() bool { return patient.send("GET", "/readyz", nil).status == http.StatusServiceUnavailable })
	select {
	case err := <-later:
		t.Errorf("the stop does not wait for the run: %v", err)
	default:
	}
	patient.client.CloseIdleConnections()
	close(released.release)
	if err := <-later; err != nil {
		t.Errorf("stop: %v", err)
	}
	patient.server = nil
}
