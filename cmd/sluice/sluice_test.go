package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sluice/iam"
	"sluice/jetstream/natstest"
	"sluice/stretch"
)

// patience bounds every wait of these tests. It is far longer than what is waited
// for ever takes: reaching it is a failure.
const patience = 3 * time.Minute

// TestMain lets the test binary be the program itself: real processes, real
// signals, and nothing to build first.
func TestMain(m *testing.M) {
	natstest.InMemory()
	stretch.By(5)
	iam.MakePasswordsCheap()
	// The race detector would let each of many short processes end a second
	// late.
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	if os.Getenv("RUN_AS_SLUICE") != "" {
		main()
		return
	}
	// Most of them wait, for processes and for slow pipelines.
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"sluice": main})
}

// program prepares a run of the program, in a folder of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = t.TempDir()
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SLUICE_") { // whoever runs the tests may have some
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "RUN_AS_SLUICE=1", "SLUICE_MIN_FREE_DISK=1MiB")
	return cmd
}

// A running server, with what it printed so far.
type running struct {
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
	lines  []string // of standard output, up to the one that says what to open
}

// start runs the server and waits until it says where to look at it.
func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{cmd: cmd, stderr: new(bytes.Buffer)}
	cmd.Stderr = r.stderr
	stdout, err := cmd.StdoutPipe()
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
	scan := bufio.NewScanner(stdout)
	for scan.Scan() {
		r.lines = append(r.lines, scan.Text())
		if m := regexp.MustCompile(`listens on (\S+)`).FindStringSubmatch(scan.Text()); m != nil {
			r.url = m[1]
		}
		if strings.HasPrefix(scan.Text(), "open in a browser: ") {
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return r
		}
	}
	_ = cmd.Wait()
	t.Fatalf("the server ended early:\n%s\n%s", strings.Join(r.lines, "\n"), r.stderr)
	return nil
}

// try runs the commands that the server has printed, as they are. curl asks for the
// password, which it reads from its input, since there is no terminal.
func (r *running) try(t *testing.T, password string) string {
	t.Helper()
	var commands []string
	for _, line := range r.lines {
		if strings.HasPrefix(line, "  ") {
			commands = append(commands, line)
		}
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", strings.Join(commands, "\n"))
	shell.Stdin = strings.NewReader(password + "\n")
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := shell.Output()
	if err != nil {
		t.Errorf("%s: %v", strings.Join(commands, "\n"), err)
	}
	return string(out)
}

func (r *running) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("after %s: %v\n%s", signal, err, r.stderr)
	}
}

func TestServePrintsAPasswordOnce(t *testing.T) {
	t.Parallel()
	cmd := program(t, "serve", "--listen", "127.0.0.1:0")
	r := start(t, cmd)
	password := regexp.MustCompile(`user admin has the password (\S+) `).FindStringSubmatch(strings.Join(r.lines, "\n"))
	if password == nil {
		t.Fatalf("no password was printed:\n%s", strings.Join(r.lines, "\n"))
	}
	if out := r.try(t, password[1]); !strings.Contains(out, `"correlationId":"`) {
		t.Errorf("what the banner says to try answers %q", out)
	}
	r.stop(t, syscall.SIGTERM)

	again := program(t, "serve", "--listen", "127.0.0.1:0")
	again.Dir = cmd.Dir
	r = start(t, again)
	if strings.Contains(strings.Join(r.lines, "\n"), "password") {
		t.Errorf("a password was printed again:\n%s", strings.Join(r.lines, "\n"))
	}
	r.stop(t, syscall.SIGINT)
}

// TestASecondSignalCutsTheStopShort: whoever asks again waits neither for load
// balancers nor for calls in flight, and the server still ends in order.
func TestASecondSignalCutsTheStopShort(t *testing.T) {
	t.Parallel()
	cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--drain-wait", "1h")
	cmd.Env = append(cmd.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour")
	r := &hooked{running: start(t, cmd)}
	token := regexp.MustCompile(`"uuid":"([^"]+)"`).FindStringSubmatch(r.command(t, "webhook.put", "eventKey=webhook.hurry"))[1]
	begun, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close()
	if _, err := io.WriteString(begun, "POST /api/v3/command/webhook.receive HTTP/1.1\r\nHost: sluice\r\nToken: "+token+"\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if goOn, err := bufio.NewReader(begun).ReadString('\n'); err != nil || !strings.Contains(goOn, "100") { // it is in flight
		t.Fatalf("%q, %v", goOn, err)
	}
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r.awaitUnready(t)
	r.stop(t, syscall.SIGTERM)
	if _, err := io.Copy(io.Discard, begun); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the call was not cut off: %v", err)
	}
}

// awaitUnready waits until the server says that it stops.
func (r *running) awaitUnready(t *testing.T) {
	t.Helper()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for status := 0; status != http.StatusServiceUnavailable; <-pace.C {
		answer, err := http.Get(r.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		status = answer.StatusCode
	}
}

func TestASecondServerOnTheSameFolderIsRefused(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := start(t, program(t, "serve", "--listen", "127.0.0.1:0", "--data", data))
	wantRefusal(t, program(t, "serve", "--listen", "127.0.0.1:0", "--data", data), "is in use by another server")
	r.stop(t, syscall.SIGTERM)
}

func TestBadSettingsStopTheStart(t *testing.T) {
	t.Parallel()
	wantRefusal(t, program(t, "serve", "--lisen", "x"), "sluice serve has no flag --lisen; did you mean --listen?")
	wantRefusal(t, program(t, "serve", "--result-ttl", "soon"), `--result-ttl: "soon" is not a duration`)
	wantRefusal(t, program(t, "serve", "--config", "missing.yaml"), "missing.yaml")
	data := filepath.Join(t.TempDir(), "data")
	wantRefusal(t, program(t, "serve", "--listen", "127.0.0.1:0", "--data", data, "--tls-cert", "a.pem", "--tls-key", "b.pem"), "tls-cert and tls-key")
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("a data folder was made for a server that can't start (%v)", err)
	}
	wantRefusal(t, program(t, "serve", "--listen", "127.0.0.1:0", "--secret-key", "short"), "secret-key: ")
	wantRefusal(t, program(t, "sarve"), `There is no command "sluice sarve"; did you mean serve?`)
	withEnv := program(t, "serve")
	withEnv.Env = append(withEnv.Env, "SLUICE_LISEN=x")
	wantRefusal(t, withEnv, "SLUICE_LISEN: there is no such setting")
}

// wantRefusal runs a command that must fail with one clear line.
func wantRefusal(t *testing.T, cmd *exec.Cmd, want string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%v succeeded:\n%s", cmd.Args[1:], out)
	}
	text := strings.TrimSpace(string(out))
	if !strings.HasPrefix(text, "sluice: ") || !strings.Contains(text, want) || strings.Contains(text, "\n") {
		t.Errorf("%v: got %q, want one line with %q", cmd.Args[1:], text, want)
	}
}

func TestPlainHTTPBeyondThisMachineIsWarnedOf(t *testing.T) {
	t.Parallel()
	r := start(t, program(t, "serve", "--listen", "0.0.0.0:0"))
	defer r.stop(t, syscall.SIGTERM)
	printed := strings.Join(r.lines, "\n")
	if !strings.Contains(printed, "warning: serving plain HTTP") || !strings.Contains(printed, "http://localhost:") {
		t.Errorf("printed:\n%s", printed)
	}
}

// TestSecretsLeaveTheEnvironment: once the server runs, nobody reads them in /proc.
func TestSecretsLeaveTheEnvironment(t *testing.T) {
	t.Parallel()
	cmd := program(t, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Env,
		"SLUICE_ADMIN_PASSWORD=hidden-password", "SLUICE_SECRET_KEY=aGlkZGVuLWhpZGRlbi1oaWRkZW4taGlkZGVuLWhpZGQ=",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=hidden-header", "KEPT=hidden-not")
	r := start(t, cmd)
	shown, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/environ")
	if err != nil {
		t.Skip(err) // not Linux
	}
	for _, secret := range []string{"hidden-password", "aGlkZGVu", "hidden-header"} {
		if bytes.Contains(shown, []byte(secret)) {
			t.Errorf("%s can be read: %q", secret, shown)
		}
	}
	if !bytes.Contains(shown, []byte("KEPT=hidden-not\x00")) {
		t.Errorf("the rest of the environment is gone: %q", shown)
	}
	if out := r.try(t, "hidden-password"); !strings.Contains(out, `"correlationId":"`) {
		t.Errorf("the password does not count: %q", out)
	}
	r.stop(t, syscall.SIGTERM)
}

func TestAKilledServerComesBackWithItsEvents(t *testing.T) {
	t.Parallel()
	cmd := program(t, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "SLUICE_ADMIN_PASSWORD=well-known-here")
	r := start(t, cmd)
	id := regexp.MustCompile(`"correlationId":"([^"]+)"`).FindStringSubmatch(r.try(t, "well-known-here"))
	if id == nil {
		t.Fatal("the call has no correlation id")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	again := program(t, "serve", "--listen", "127.0.0.1:0")
	again.Dir = cmd.Dir
	began := time.Now()
	r = start(t, again)
	t.Logf("back after %s", time.Since(began))
	out, err := exec.Command("curl", "-s", r.url+"/api/v3/result?svc-result-correlationid="+id[1]).Output()
	if err != nil || !strings.Contains(string(out), `"status":"ok"`) {
		t.Errorf("after a kill the result is %s (%v)", out, err)
	}
	r.stop(t, syscall.SIGTERM)
}
