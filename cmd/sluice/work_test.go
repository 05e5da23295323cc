package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A desk stands for a server that is asked for work. Each take has the next answer, and the last one is a refusal.
type desk struct {
	mu    sync.Mutex
	takes []time.Time
	other []string // the other commands
	gives []func(http.ResponseWriter)
}

// ServeHTTP implements http.Handler.
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if name != "work.take" {
		d.other = append(d.other, name)
		refuse(http.StatusGone, "lease-over", "")(w)
		return
	}
	d.takes = append(d.takes, time.Now())
	if n := len(d.takes); n <= len(d.gives) {
		d.gives[n-1](w)
		return
	}
	refuse(http.StatusForbidden, "forbidden", "")(w)
}

func refuse(status int, code, after string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"code":%q,"detail":"It says %s."}`, code, code)
	}
}

func give(items string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprintf(w, `{"items":[%s]}`, items) }
}

// work runs the verb at a desk until that refuses it.
func (d *desk) work(t *testing.T, command ...string) (said string) {
	t.Helper()
	server := httptest.NewServer(d)
	defer server.Close()
	cmd := program(t, append([]string{"work", "scan", "--lease", "1s", "--"}, command...)...)
	cmd.Env = append(cmd.Env, "SLUICE_URL="+server.URL, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err == nil || !strings.Contains(out.String(), "It says forbidden.") {
		t.Fatalf("the verb ends with %v: %s", err, &out)
	}
	return out.String()
}

// TestWorkDoesNotHammer: a server that has nothing, and does not wait for something, is asked again after pauses
// that grow, and one that is busy when it says.
func TestWorkDoesNotHammer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		gives  []func(http.ResponseWriter)
		pauses []time.Duration
		says   string
	}{
		"nothing at once":   {[]func(http.ResponseWriter){give(""), give("")}, []time.Duration{time.Second, 2 * time.Second}, ""},
		"overloaded":        {[]func(http.ResponseWriter){refuse(503, "overloaded", "3")}, []time.Duration{3 * time.Second}, "It says overloaded."},
		"a restart":         {[]func(http.ResponseWriter){refuse(502, "", ""), refuse(503, "draining", "2")}, []time.Duration{time.Second, 2 * time.Second}, ""},
		"more than a share": {[]func(http.ResponseWriter){refuse(429, "too-many-calls", "2")}, []time.Duration{2 * time.Second}, "It says too-many-calls."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{gives: test.gives}
			if said := d.work(t, "cat"); !strings.Contains(said, test.says) || strings.Contains(said, "Trying on") != (test.says != "") {
				t.Errorf("it says %s", said)
			}
			for i, least := range test.pauses {
				if pause := d.takes[i+1].Sub(d.takes[i]); pause < least {
					t.Errorf("pause %d is %s, want %s", i, pause, least)
				}
			}
		})
	}
}

// TestALostLeaseIsNotAnswered: a program that is ended because its lease is lost has done nothing, though it ends well.
func TestALostLeaseIsNotAnswered(t *testing.T) {
	t.Parallel()
	d := &desk{gives: []func(http.ResponseWriter){give(`{"lease":"a.b.c.d","queue":"scan","traceId":"t","input":1}`)}}
	said := d.work(t, "sh", "-c", `trap "kill $!; echo half; exit 0" TERM; sleep 60 & wait`)
	if got := strings.Join(d.other, " "); got != "work.extend" || !strings.Contains(said, "the lease was lost") {
		t.Errorf("the server hears %s, and people %s", got, said)
	}
}

// TestWorkGoesOnAfterAHandOver: who waits for work when a new program takes over gets the next item from that.
func TestWorkGoesOnAfterAHandOver(t *testing.T) {
	t.Parallel()
	r := startReplaceable(t)
	r.begin()
	r.command("pipeline.put?name=handed", `{"pipeline": [{"event.listen": {"eventKey": "handed"}}, {"work": {"queue": "scan"}}]}`)
	worker := program(t, "work", "scan", "--", "cat")
	worker.Env = append(worker.Env, "SLUICE_URL="+r.url, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=handed over")
	said, err := worker.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	done := func() {
		t.Helper()
		r.command("event.send", `{"eventKey": "handed", "payload": 1}`)
		if !lines.Scan() || !strings.HasSuffix(lines.Text(), ": done") {
			t.Fatalf("the worker says %s", lines.Text())
		}
	}
	done()
	if err := r.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	r.successor()
	done()
	_ = worker.Process.Signal(os.Interrupt)
	if lines.Scan() && lines.Text() != "sluice: interrupted" {
		t.Errorf("the worker says %s", lines.Text())
	}
	_ = worker.Wait() // it was interrupted
}
