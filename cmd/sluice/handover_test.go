package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A replaceable is a server at a path where another program can be put.
type replaceable struct {
	t       *testing.T
	dir     string
	cmd     *exec.Cmd
	pid     int           // of the program that serves
	manager *net.UnixConn // is told what systemd would be told
	url     string
	hook    string
	client  *http.Client // keeps its connections

	out *os.File // what the programs print

	mu      sync.Mutex
	printed bytes.Buffer
	ended   chan struct{} // closed when the last of the programs has ended
}

func startReplaceable(t *testing.T, settings ...string) *replaceable {
	t.Helper()
	r := &replaceable{t: t, dir: t.TempDir(), client: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}, ended: make(chan struct{})}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, r.program()); err != nil {
		t.Fatal(err)
	}
	if r.manager, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(r.dir, "notify"), Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.manager.Close() })
	r.cmd = program(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", "data"}, settings...)...)
	r.cmd.Path, r.cmd.Args[0], r.cmd.Dir = r.program(), r.program(), r.dir
	r.cmd.Env = append(r.cmd.Env, "SLUICE_ADMIN_PASSWORD=handed over", "NOTIFY_SOCKET="+filepath.Join(r.dir, "notify"))
	return r
}

func (r *replaceable) program() string { return filepath.Join(r.dir, "sluice") }

// begin starts the server, makes a webhook unless there is one, and sees to it that nothing outlives the test.
func (r *replaceable) begin() {
	r.t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.out, r.cmd.Stdout, r.cmd.Stderr = out, in, in
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	_ = in.Close()
	r.pid = r.cmd.Process.Pid
	r.t.Cleanup(func() {
		select {
		case <-r.ended:
		default:
			_ = syscall.Kill(r.pid, syscall.SIGKILL)
		}
	})
	go func() {
		defer close(r.ended)
		for buffer := make([]byte, 4096); ; {
			n, err := out.Read(buffer)
			if err != nil {
				return
			}
			r.mu.Lock()
			r.printed.Write(buffer[:n])
			r.mu.Unlock()
		}
	}()
	r.awaitPrinted("open in a browser: ")
	r.url = regexp.MustCompile(`listens on (\S+)`).FindStringSubmatch(r.text())[1]
	if r.hook != "" {
		return
	}
	r.hook = regexp.MustCompile(`"webhookUrl":"([^"]+)"`).FindStringSubmatch(r.command("webhook.put", `{"eventKey":"webhook.handed"}`))[1]
}

func (r *replaceable) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.printed.String()
}

func (r *replaceable) awaitPrinted(text string) {
	r.t.Helper()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for deadline := time.Now().Add(patience); !strings.Contains(r.text(), text); {
		select {
		case now := <-pace.C:
			if now.Before(deadline) {
				continue
			}
		case <-r.ended:
		}
		r.t.Fatalf("no %q in:\n%s", text, r.text())
	}
}

func (r *replaceable) command(name, params string) string {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/api/v3/command/"+name, strings.NewReader(params))
	if err != nil {
		r.t.Fatal(err)
	}
	request.SetBasicAuth("admin", "handed over")
	request.Header.Set("Content-Type", "application/json")
	answer, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s: %s %v", name, answer.Status, content, err)
	}
	return string(content)
}

// call calls the webhook. It returns what went wrong.
func (r *replaceable) call(client *http.Client) error {
	answer, err := client.Post(r.hook, "text/plain", strings.NewReader("x"))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, content)
	}
	return err
}

// load calls the webhook until stop is called, on connections that are kept and on new
// ones. It returns how many calls were answered, and fails for each that was not.
func (r *replaceable) load() (stop func() int) {
	once := r.client.Transport.(*http.Transport).Clone()
	once.DisableKeepAlives = true
	var work sync.WaitGroup
	done, answered := make(chan struct{}), make(chan int, 8)
	for i := range cap(answered) {
		client := r.client
		if i%2 == 0 {
			client = &http.Client{Timeout: patience, Transport: once}
		}
		work.Go(func() {
			count := 0
			defer func() { answered <- count }()
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := r.call(client); err != nil {
					r.t.Errorf("a call failed: %v", err)
					return
				}
				count++
			}
		})
	}
	return func() (total int) {
		close(done)
		work.Wait()
		for range cap(answered) {
			total += <-answered
		}
		return total
	}
}

// successor waits for the process id that the service manager is to follow from now on.
func (r *replaceable) successor() int {
	r.t.Helper()
	_ = r.manager.SetReadDeadline(time.Now().Add(patience))
	for message := make([]byte, 4096); ; {
		n, err := r.manager.Read(message)
		if err != nil {
			r.t.Fatalf("%v\n%s", err, r.text())
		}
		if pid, found := strings.CutPrefix(string(message[:n]), "MAINPID="); found {
			number, err := strconv.Atoi(pid)
			if err != nil {
				r.t.Fatal(err)
			}
			r.pid = number
			return number
		}
	}
}

// stop ends the server, and checks that so many calls were stored.
func (r *replaceable) stop(calls int) {
	r.t.Helper()
	stored := r.command("webhook.stats", "{}")
	if want := fmt.Sprintf(`"accepted":%d,`, calls); !strings.Contains(stored, want) {
		r.t.Errorf("%d calls were answered; stored is %s", calls, stored)
	}
	if err := syscall.Kill(r.pid, syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	<-r.ended
	if r.pid == r.cmd.Process.Pid {
		_ = r.cmd.Wait()
	}
}

// certificate writes a certificate, and lets the client trust it.
func (r *replaceable) certificate() {
	r.t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(writeCertificate(r.t, r.dir))
	r.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
}

// writeCertificate writes a certificate of this machine, and its key.
func writeCertificate(t *testing.T, dir string) *x509.Certificate {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: server.Certificate().Raw}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return server.Certificate()
}

// TestHandOver: a new program takes over while calls come. None is refused, cut off or
// lost, and the old program ends.
func TestHandOver(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(map[bool]string{false: "HTTP", true: "HTTPS"}[secure], func(t *testing.T) {
			t.Parallel()
			r := startReplaceable(t)
			if secure {
				r.certificate()
				r.cmd.Args = append(r.cmd.Args, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
			}
			r.begin()
			stop := r.load()
			if err := r.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
				t.Fatal(err)
			}
			pid := r.successor()
			if err := r.cmd.Wait(); err != nil {
				t.Errorf("the old program: %v", err)
			}
			again := syscall.Kill(pid, syscall.SIGUSR2)
			second := r.successor()
			if again != nil || second == pid || pid == r.cmd.Process.Pid {
				t.Errorf("process %d was followed by %d and %d, %v", r.cmd.Process.Pid, pid, second, again)
			}
			r.stop(stop())
		})
	}
}

// TestFailedHandOver: a program that does not start, or not completely, leaves the old one
// serving, and the next one can take over.
func TestFailedHandOver(t *testing.T) {
	t.Parallel()
	r := startReplaceable(t, "--config", "settings.yaml")
	settings := func(text string) {
		if err := os.WriteFile(filepath.Join(r.dir, "settings.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	signal := func() {
		if err := r.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
			t.Fatal(err)
		}
	}
	settings("result-ttl: 1h\n")
	r.begin()
	stop := r.load()
	settings("result-ttl: soon\n")
	signal()
	r.awaitPrinted("The new program did not start; this one goes on.")
	settings("metrics-listen: 192.0.2.1:1\n") // found out once it has the data
	signal()
	r.awaitPrinted("The new program did not become ready; this one serves again.")
	if err := r.call(r.client); err != nil {
		t.Error(err)
	}
	settings("result-ttl: 2h\n")
	signal()
	r.successor()
	r.stop(stop() + 1)
}

// TestNobodyReadsTheLog: a server outlives whoever reads its log, such as the program before it.
func TestNobodyReadsTheLog(t *testing.T) {
	t.Parallel()
	r := startReplaceable(t, "--log-level", "debug")
	r.begin()
	if err := r.out.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	for range 3 { // a refusal is in the log before it is answered
		res, err := r.client.Post(r.url+"/api/v3/command/webhook.get", "application/json", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
}

// TestSocketOfTheServiceManager: a server takes the socket that it is given, and its address
// is not bound.
func TestSocketOfTheServiceManager(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	r := startReplaceable(t, "--listen", "192.0.2.1:1")
	// A shell knows the process id that systemd would tell.
	r.cmd.Args = append([]string{"/bin/sh", "-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"`, "sh"}, r.cmd.Args...)
	r.cmd.Path, r.cmd.ExtraFiles = "/bin/sh", []*os.File{file}
	r.begin()
	if want := "http://" + listener.Addr().String(); r.url != want {
		t.Errorf("the server listens on %s, want %s", r.url, want)
	}
	if err := r.call(r.client); err != nil {
		t.Error(err)
	}
	r.stop(1)
	begun := make(chan error, 1)
	go func() { begun <- r.call(&http.Client{Timeout: patience}) }() // it waits for the next server
	next := startReplaceable(t, "--data", filepath.Join(r.dir, "data"))
	next.cmd.Args = append([]string{"/bin/sh", "-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"`, "sh"}, next.cmd.Args...)
	next.cmd.Path, next.cmd.ExtraFiles = "/bin/sh", []*os.File{file}
	next.hook = r.hook
	next.begin()
	if err := <-begun; err != nil {
		t.Errorf("a call between two servers: %v", err)
	}
	next.stop(2)
}
