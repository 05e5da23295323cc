package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/cmd/sluice/exit"
)

// A target is the program of a developer, which events are forwarded to.
type target struct {
	t       *testing.T
	address string
	server  *http.Server
	got     chan received
	release chan struct{} // what a call to /slow waits for
}

// received is a call that arrived at the target.
type received struct {
	method, path, query, body string
	header                    http.Header
}

func startTarget(t *testing.T) *target {
	t.Helper()
	tg := &target{t: t, address: "127.0.0.1:0", got: make(chan received, 100), release: make(chan struct{})}
	tg.open()
	t.Cleanup(func() { tg.close() })
	return tg
}

func (tg *target) open() {
	tg.t.Helper()
	listener, err := net.Listen("tcp", tg.address)
	if err != nil {
		tg.t.Fatal(err)
	}
	tg.address = listener.Addr().String()
	tg.server = &http.Server{Handler: tg}
	tg.server.SetKeepAlivesEnabled(false) // what is sent on a connection that is just closed may have arrived
	go func() { _ = tg.server.Serve(listener) }()
}

func (tg *target) close() { _ = tg.server.Close() }

// ServeHTTP implements http.Handler.
func (tg *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	tg.got <- received{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header}
	if r.Header.Get("X-Slow") != "" {
		select {
		case <-tg.release:
		case <-r.Context().Done():
		}
	}
	w.WriteHeader(http.StatusAccepted)
}

// next returns the next call that arrives.
func (tg *target) next() received {
	tg.t.Helper()
	select {
	case r := <-tg.got:
		return r
	case <-time.After(patience):
		tg.t.Fatal("no event arrives")
		return received{}
	}
}

// A listening is a client that listens.
type listening struct {
	t           *testing.T
	cmd         *exec.Cmd
	out, errors *bufio.Scanner
}

func listen(t *testing.T, url, dir string, args ...string) *listening {
	t.Helper()
	return run(t, url, dir, append([]string{"listen"}, args...)...)
}

// run starts a client that goes on until it is interrupted.
func run(t *testing.T, url, dir string, args ...string) *listening {
	t.Helper()
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, "SLUICE_URL="+url, "SLUICE_CLIENT_DIR="+dir, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errors, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return &listening{t, cmd, bufio.NewScanner(out), bufio.NewScanner(errors)}
}

// says waits for a line that has a text in it.
func (l *listening) says(lines *bufio.Scanner, text string) {
	l.t.Helper()
	late := time.AfterFunc(patience, func() { _ = l.cmd.Process.Kill() })
	defer late.Stop()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
		l.t.Logf("said: %s", lines.Text())
	}
	l.t.Fatalf("it never said %q", text)
}

func (l *listening) interrupt() {
	l.t.Helper()
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		l.t.Fatal(err)
	}
	_ = l.cmd.Wait()
	if code := l.cmd.ProcessState.ExitCode(); code != 130 {
		l.t.Errorf("interrupted, it ended with %d, want 130", code)
	}
}

// hooked is a server with a webhook.
type hooked struct {
	*running
	data, token string
}

func startHooked(t *testing.T, key string) *hooked {
	t.Helper()
	h := &hooked{data: t.TempDir()}
	h.restart(t, "127.0.0.1:0")
	out := h.command(t, "webhook.put", "eventKey="+key)
	h.token = regexp.MustCompile(`"uuid":"([^"]+)"`).FindStringSubmatch(out)[1]
	return h
}

func (h *hooked) restart(t *testing.T, address string) {
	t.Helper()
	cmd := program(t, "serve", "--listen", address, "--data", h.data)
	cmd.Env = append(cmd.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour")
	h.running = start(t, cmd)
}

// command runs a command of the server.
func (h *hooked) command(t *testing.T, args ...string) string {
	t.Helper()
	cmd := program(t, append([]string{"command"}, args...)...)
	cmd.Env = append(cmd.Env, "SLUICE_URL="+h.url, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

// call calls the webhook.
func (h *hooked) call(t *testing.T, body string, header ...string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", h.url+"/api/v3/command/webhook.receive?a=1&token="+h.token, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the call was answered with %d", response.StatusCode)
	}
}

func TestEventsAreForwarded(t *testing.T) {
	t.Parallel()
	const key = "webhook.forwarded"
	h := startHooked(t, key)
	tg := startTarget(t)
	dir := t.TempDir()
	forward := []string{key, "--forward", "http://" + tg.address + "/hook?b=2"}
	h.call(t, "before anyone listened")
	l := listen(t, h.url, dir, forward...)
	l.says(l.errors, "Waiting for events of "+key)

	// As it was, to the byte, but for secrets.
	body := "\x00\xff not text \r\n"
	h.call(t, body, "Content-Type", "application/x-thing", "X-Shop", "one", "Authorization", "Basic c2VjcmV0")
	got := tg.next()
	if got.method != "POST" || got.path != "/hook" || got.query != "a=1&b=2" || got.body != body {
		t.Errorf("forwarded %+v", got)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/x-thing", "X-Shop": "one", "Authorization": "", "Token": "",
		"X-Forwarded-Host": strings.TrimPrefix(h.url, "http://"),
	} {
		if value := got.header.Get(name); value != want {
			t.Errorf("the header %s is %q, want %q", name, value, want)
		}
	}
	if !strings.HasPrefix(got.header.Get("svc-trace-id"), h.token[30:]+":") {
		t.Errorf("the trace id is %q", got.header.Get("svc-trace-id"))
	}
	l.says(l.out, `"method":"POST","status":202,"duration":`)

	// A server that is away for a while.
	h.stop(t, syscall.SIGTERM)
	h.restart(t, strings.TrimPrefix(h.url, "http://"))
	h.call(t, "after a restart")
	if got := tg.next(); got.body != "after a restart" {
		t.Errorf("after a restart %q was forwarded", got.body)
	}
	l.says(l.out, `"status":202`)

	// A program that is away for a while.
	tg.close()
	h.call(t, "has to wait")
	l.says(l.errors, "The program can't be reached")
	tg.open()
	if got := tg.next(); got.body != "has to wait" {
		t.Errorf("to a program that came back %q was forwarded", got.body)
	}
	l.says(l.out, `"status":202`)

	// A client that is away for a while.
	l.interrupt()
	h.call(t, "while nobody listened")
	l = listen(t, h.url, dir, forward...)
	l.says(l.errors, "Going on with events of "+key)
	if got := tg.next(); got.body != "while nobody listened" {
		t.Errorf("a client that came back forwarded %q", got.body)
	}

	// What has arrived is not sent twice, though its answer was not awaited.
	h.call(t, "slow", "X-Slow", "1")
	tg.next()
	l.interrupt()
	close(tg.release)
	h.call(t, "last")
	l = listen(t, h.url, dir, forward...)
	if got := tg.next(); got.body != "last" {
		t.Errorf("after an interrupt %q was forwarded, want the last call", got.body)
	}
	l.interrupt()

	// From now on, and not what was before.
	h.call(t, "not meant")
	l = listen(t, h.url, dir, append(forward, "--new")...)
	l.says(l.errors, "Waiting for events")
	h.call(t, "new")
	if got := tg.next(); got.body != "new" {
		t.Errorf("with --new %q was forwarded", got.body)
	}
	l.interrupt()
	h.stop(t, syscall.SIGTERM)
}

// TestListeningAsPeopleTypeIt: a port will do, another URL goes on where the
// first was, and a key that nothing has is found out.
func TestListeningAsPeopleTypeIt(t *testing.T) {
	t.Parallel()
	const key = "webhook.typed"
	h := startHooked(t, key)
	first, second := startTarget(t), startTarget(t)
	_, port, _ := strings.Cut(first.address, ":")
	dir := t.TempDir()
	l := listen(t, h.url, dir, key, port)
	l.says(l.errors, "Waiting for events of "+key)
	h.call(t, "one")
	if got := first.next(); got.body != "one" {
		t.Errorf("forwarded %q", got.body)
	}
	l.says(l.out, `"status":202`)
	l.interrupt()

	h.call(t, "two")
	l = listen(t, h.url, dir, key, "--forward", second.address)
	l.says(l.errors, "Going on with events of "+key)
	if got := second.next(); got.body != "two" {
		t.Errorf("to another URL %q was forwarded", got.body)
	}
	l.says(l.out, `"status":202`)
	l.interrupt()

	l = listen(t, h.url, dir, second.address)
	l.says(l.errors, "Waiting for events of #")
	h.call(t, "three")
	if got := second.next(); got.body != "three" {
		t.Errorf("of all events %q was forwarded", got.body)
	}
	l.interrupt()

	l = listen(t, h.url, dir, "webhook.typd")
	l.says(l.errors, "There is no webhook webhook.typd; did you mean webhook.typed?")
	_ = l.cmd.Wait()
	if code := l.cmd.ProcessState.ExitCode(); code != exit.NotFound {
		t.Errorf("an unknown key ended with %d", code)
	}
	l = listen(t, h.url, dir, "webhook.typd", "--wait")
	l.says(l.errors, "Waiting for events of webhook.typd")
	l.interrupt()
	h.stop(t, syscall.SIGTERM)
}

// TestAStopDoesNotWaitForListeners: a server that stops answers those who wait
// for events.
func TestAStopDoesNotWaitForListeners(t *testing.T) {
	t.Parallel()
	const key = "webhook.stopped"
	h := startHooked(t, key)
	l := listen(t, h.url, t.TempDir(), key)
	l.says(l.errors, "Waiting for events")
	h.stop(t, syscall.SIGTERM) // which fails if calls in flight outlast its patience
	l.interrupt()
}
