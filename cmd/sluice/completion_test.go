//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TestBareBashCompletes: a bash that has loaded nothing else completes verbs,
// flags, names that the server has, and values behind a =.
func TestBareBashCompletes(t *testing.T) {
	t.Parallel()
	const key = "webhook.completed"
	h := startHooked(t, key)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "sluice")); err != nil {
		t.Fatal(err)
	}
	program := program(t)
	p := &person{t: t, cmd: exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-i"), more: make(chan struct{}, 1)}
	p.cmd.Dir = program.Dir
	p.cmd.Env = append(slices.Clone(program.Env), "PATH="+bin+":"+os.Getenv("PATH"), "PS1=ready> ", "TERM=dumb", "INPUTRC=/dev/null",
		"SLUICE_URL="+h.url, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour", "SLUICE_CLIENT_DIR="+t.TempDir())
	p.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if p.pty, p.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.tty, p.tty, p.tty
	p.starts()
	p.sees("ready> ")
	p.types("bind 'set enable-bracketed-paste off'; source <(sluice completion bash); echo lo''aded\n")
	p.sees("loaded")
	for typed, want := range map[string]string{
		"sluice webhook sh\t":                          "sluice webhook show ",
		"sluice webhook url webhook.comp\t":            "sluice webhook url " + key + " ",
		"sluice webhook create x --payload-t\t":        "sluice webhook create x --payload-type ",
		"sluice webhook create x --payload-type ign\t": "sluice webhook create x --payload-type ignore ",
		"sluice command webhook.put payloadType=ign\t": "sluice command webhook.put payloadType=ignore ",
		"sluice trace --status rej\t":                  "sluice trace --status rejected ",
		"sluice webhook create x --provider githu\t":   "sluice webhook create x --provider github ",
		"sluice webhook edit x --provider githu\t":     "sluice webhook edit x --provider github ",
		"sluice audit --command iam.key\t":             "sluice audit --command iam.key.rotate ",
		"sluice webhook list -o ta\t":                  "sluice webhook list -o table ",
		"sluice audit --output=ya\t":                   "sluice audit --output=yaml ",
	} {
		for tries := 0; !strings.Contains(p.screen(), want+"#"); tries++ {
			if tries == 20 {
				t.Fatalf("%q is not completed to %q:\n%s", typed, want, p.screen())
			}
			// A server that takes its time completes nothing: people press the key again.
			prompts := strings.Count(p.screen(), "ready> ")
			p.types(typed + "#\n")
			p.seesMore("ready> ", prompts)
		}
	}
	p.types("exit\n")
	_ = p.cmd.Wait()
	if strings.Contains(p.screen(), "not found") {
		t.Errorf("something is missing:\n%s", p.screen())
	}
}
