//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rivo/uniseg"
	"golang.org/x/sys/unix"
)

// A person runs the program at a terminal.
type person struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File // what they see and type
	tty  *os.File // what the program has; kept open to look at it afterwards
	mu   sync.Mutex
	seen string
	more chan struct{} // something was seen
}

// atTerminal runs the program at a terminal, against a server.
func atTerminal(t *testing.T, url, dir string, environ []string, args ...string) *person {
	t.Helper()
	p := &person{t: t, cmd: program(t, args...), more: make(chan struct{}, 1)}
	var err error
	if p.pty, p.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(p.pty, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	p.cmd.Env = append(append(p.cmd.Env, "SLUICE_URL="+url, "SLUICE_CLIENT_DIR="+dir, "TERM=xterm", "NO_COLOR=", "BROWSER=", "DISPLAY=", "WAYLAND_DISPLAY="), environ...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.tty, p.tty, p.tty
	p.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	p.starts()
	return p
}

// starts starts what the person uses, and looks at the screen.
func (p *person) starts() {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go p.watch()
	p.t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
		_ = p.tty.Close()
		_ = p.pty.Close()
	})
}

func (p *person) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := p.pty.Read(buffer)
		p.mu.Lock()
		p.seen += string(buffer[:n])
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// sees waits until a text is on the screen.
func (p *person) sees(text string) {
	p.t.Helper()
	p.seesMore(text, 0)
}

// seesMore waits until a text is on the screen more often than it was.
func (p *person) seesMore(text string, often int) {
	p.t.Helper()
	late := time.After(patience)
	for strings.Count(p.screen(), text) <= often {
		select {
		case <-p.more:
		case <-late:
			p.t.Fatalf("%q does not appear:\n%s", text, p.screen())
		}
	}
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.pty.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end of the program and wants its exit code.
func (p *person) ends(code int) {
	p.t.Helper()
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("%v ended with %d, want %d:\n%s", p.cmd.Args[1:], got, code, p.screen())
	}
}

// echoes reports whether the terminal shows what is typed.
func (p *person) echoes() bool {
	p.t.Helper()
	settings, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return settings.Lflag&unix.ECHO != 0
}

// isUnseen waits until what is typed is not shown.
func (p *person) isUnseen() {
	p.t.Helper()
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	late := time.After(patience)
	for p.echoes() {
		select {
		case <-pace.C:
		case <-late:
			p.t.Fatal("the terminal goes on showing what is typed")
		}
	}
}

const (
	columns  = 80 // of the terminal
	controlC = "\x03"
	seen     = "webhook.seen"
)

func TestAPersonAtATerminal(t *testing.T) {
	t.Parallel()
	server := program(t, "serve", "--listen", "127.0.0.1:0", "--result-wait", "0s")
	server.Env = append(server.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour")
	r := start(t, server)
	dir := t.TempDir()

	t.Run("logs in without showing the password", func(t *testing.T) {
		p := atTerminal(t, "", dir, nil, "login", "--url", r.url)
		p.sees("Username: ")
		p.types("admin\n")
		p.sees("Password: ")
		p.isUnseen()
		p.types("a-short-tour\n")
		p.sees("Logged in at " + r.url + " as admin (profile default).")
		p.ends(0)
		if strings.Contains(p.screen(), "a-short-tour") {
			t.Errorf("the password was shown:\n%s", p.screen())
		}
	})

	t.Run("gives up at the password", func(t *testing.T) {
		p := atTerminal(t, r.url, dir, nil, "login", "--username", "admin")
		p.sees("Password: ")
		p.isUnseen()
		p.types(controlC)
		p.ends(130)
		if !p.echoes() {
			t.Error("the terminal was left without an echo")
		}
	})

	t.Run("sees tables and colours", func(t *testing.T) {
		p := atTerminal(t, "", dir, nil, "command", "webhook.put", "eventKey="+seen)
		p.sees("\x1b[2mEvent key\x1b[0m            " + seen)
		p.ends(0)
		p = atTerminal(t, "", dir, nil, "command", "webhook.get")
		p.sees("\x1b[1mTOKEN")
		p.ends(0)
		p = atTerminal(t, "", dir, []string{"NO_COLOR=1"}, "command", "webhook.get")
		p.sees("TOKEN ")
		p.ends(0)
		if strings.Contains(p.screen(), "\x1b[") {
			t.Errorf("colours in spite of NO_COLOR:\n%q", p.screen())
		}
	})

	t.Run("sees lists that fit, and no tokens", func(t *testing.T) {
		long := "webhook." + strings.Repeat("long.", 8) + "name"
		atTerminal(t, "", dir, nil, "webhook", "create", long).ends(0)
		p := atTerminal(t, "", dir, []string{"NO_COLOR=1"}, "webhook", "list")
		p.sees("webhook.seen ")
		p.ends(0)
		lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(p.screen(), "\r", "")), "\n")
		for _, line := range lines {
			if width := uniseg.StringWidth(line); width > columns {
				t.Errorf("a line is %d wide, and the terminal %d: %s", width, columns, line)
			}
		}
		if !strings.Contains(lines[1], "webhook.long.") || !strings.Contains(lines[1], "…") {
			t.Errorf("the long name was not cut:\n%s", p.screen())
		}
		token := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-`)
		if token.MatchString(p.screen()) {
			t.Errorf("tokens were shown:\n%s", p.screen())
		}
		p = atTerminal(t, "", dir, nil, "webhook", "show", seen)
		p.sees("?token=…")
		p.ends(0)
		p = atTerminal(t, "", dir, nil, "webhook", "show", seen, "--show-token")
		p.sees("?token=")
		p.ends(0)
		if !token.MatchString(p.screen()) {
			t.Errorf("--show-token shows none:\n%s", p.screen())
		}
	})

	t.Run("is asked before something is deleted", func(t *testing.T) {
		p := atTerminal(t, "", dir, nil, "webhook", "delete", "webhook.long.long.long.long.long.long.long.long.name")
		p.sees("Calls to it are refused from then on. [y/N] ")
		p.types("n\n")
		p.ends(1)
		p.sees("Nothing was done.")
	})

	t.Run("types a secret unseen, twice", func(t *testing.T) {
		p := atTerminal(t, "", dir, nil, "secret", "put", "crm")
		for _, question := range []string{"Value of crm: ", "Again: "} {
			p.sees(question)
			p.isUnseen()
			p.types("hush\n")
		}
		p.sees("Stored the secret crm.")
		p.ends(0)
		if strings.Contains(p.screen(), "hush") {
			t.Errorf("the secret was shown:\n%s", p.screen())
		}
	})

	t.Run("is asked again for a server", func(t *testing.T) {
		p := atTerminal(t, "", t.TempDir(), nil, "login")
		p.sees("Server [http://127.0.0.1:8080]: ")
		p.types("ftp://nowhere\n")
		p.sees("is no URL of a server")
		p.types(strings.TrimPrefix(r.url, "http://") + "\n")
		p.sees("Username: ")
		p.types("admin\n")
		p.sees("Password: ")
		p.isUnseen()
		p.types("a-short-tour\n")
		p.sees("Logged in at " + r.url + " as admin")
		p.ends(0)
	})

	t.Run("sees what a pipeline failed on in red, and events as they come", func(t *testing.T) {
		source := "pipeline:\n  - event.listen: {eventKey: " + seen + "}\n  - fail: {message: out of stock}\n"
		if err := os.WriteFile(dir+"/bad.yaml", []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		atTerminal(t, "", dir, nil, "pipeline", "put", dir+"/bad.yaml").ends(0)
		listener := atTerminal(t, "", dir, nil, "listen", seen)
		listener.sees("Waiting for events")
		p := atTerminal(t, "", dir, nil, "webhook", "test", seen, "--body", `{"n":1}`)
		p.sees("\x1b[31mfailed\x1b[0m, 500")
		p.sees("out of stock")
		p.ends(9)
		listener.sees("\x1b[1m" + seen + "\x1b[0m  POST")
		listener.sees(`  {"n":1}`)
		listener.types(controlC)
		listener.ends(130)
		atTerminal(t, "", dir, nil, "pipeline", "delete", "bad", "--yes").ends(0)
	})

	t.Run("waits, and has enough of it", func(t *testing.T) {
		source := "pipeline:\n  - event.listen: {eventKey: " + seen + "}\n  - wait: {duration: 10m}\n"
		if err := os.WriteFile(dir+"/slow.yaml", []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		p := atTerminal(t, "", dir, nil, "pipeline", "put", dir+"/slow.yaml")
		p.ends(0)
		p = atTerminal(t, "", dir, nil, "call", seen, "--wait")
		p.sees("waiting for the result")
		p.types(controlC)
		p.ends(130)
		if !p.echoes() {
			t.Error("the terminal was left without an echo")
		}
		p.sees("sluice: interrupted")
	})

	t.Run("sees how far long work has come, and is asked", func(t *testing.T) {
		for i := range 4 {
			if err := os.MkdirAll(dir+"/flows", 0o700); err != nil {
				t.Fatal(err)
			}
			source := fmt.Sprintf("pipeline:\n  - set: {value: %d}\n", i)
			if err := os.WriteFile(fmt.Sprintf("%s/flows/p%d.yaml", dir, i), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := atTerminal(t, "", dir, nil, "pipeline", "put", dir+"/flows")
		p.sees("comparing")
		p.sees("(2/4)")
		p.sees("\x1b[32m+   - set: {value: 3}\x1b[0m")
		p.sees("Store 4 pipelines? [y/N] ")
		p.types("y\n")
		p.ends(0)
		p.sees("p3    admin")
	})

	t.Run("is not tricked by what is stored", func(t *testing.T) {
		source := "description: \"\\e[31mred\"\npipeline:\n  - set: {value: 1}\n"
		if err := os.WriteFile(dir+"/trick.yaml", []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		atTerminal(t, "", dir, nil, "pipeline", "put", dir+"/trick.yaml").ends(0)
		p := atTerminal(t, "", dir, []string{"NO_COLOR=1"}, "pipeline", "list")
		p.sees(`\x1b[31mred`)
		p.ends(0)
		if strings.Contains(p.screen(), "\x1b") {
			t.Errorf("the terminal was told what to do:\n%q", p.screen())
		}
	})
}
