package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sluice/serve"
)

// TestScripts runs the command line against real servers, which the scripts
// start with: server NAME [flag]...
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SLUICE_CLIENT_DIR", e.WorkDir+"/client")
			e.Setenv("NO_COLOR", "")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": serverInScript,
			"halt":   haltInScript,
			"code":   codeInScript,
			"field":  fieldInScript,
			"mode":   modeInScript,
			"last6":  last6InScript,
		},
		// [command:NAME] tells whether this build has such a command.
		Condition: func(condition string) (bool, error) {
			name, ok := strings.CutPrefix(condition, "command:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return slices.Contains(serve.Commands().Names(), name), nil
		},
	})
}

// servers of the scripts that run, by script and name: *exec.Cmd.
var servers sync.Map

// serverInScript starts a server whose admin has the password "a-short-tour", on a port
// of its own; its URL is in the variable of its name.
func serverInScript(ts *testscript.TestScript, _ bool, args []string) {
	name := args[0]
	listen := "127.0.0.1:0"
	if url := ts.Getenv(name); url != "" { // again where it was
		listen = strings.TrimPrefix(url, "http://")
	}
	self, err := os.Executable()
	ts.Check(err)
	cmd := exec.Command(self, append([]string{"serve", "--listen", listen, "--data", ts.MkAbs("data-" + name), "--min-free-disk", "1MiB"}, args[1:]...)...)
	cmd.Env = append(os.Environ(), "RUN_AS_SLUICE=1", "SLUICE_ADMIN_PASSWORD=a-short-tour")
	cmd.Stderr = ts.Stderr()
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	var printed strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(printed.String(), "open in a browser: ") {
		n, err := out.Read(buffer)
		printed.Write(buffer[:n])
		if err != nil {
			ts.Fatalf("the server ended early: %s", printed.String())
		}
	}
	url := regexp.MustCompile(`listens on (\S+)`).FindStringSubmatch(printed.String())
	ts.Setenv(name, url[1])
	key := ts.Name() + "/" + name
	servers.Store(key, cmd)
	ts.Defer(func() { stopServer(key) })
}

// haltInScript stops a server: halt NAME.
func haltInScript(ts *testscript.TestScript, _ bool, args []string) {
	stopServer(ts.Name() + "/" + args[0])
}

func stopServer(key string) {
	if server, runs := servers.LoadAndDelete(key); runs {
		cmd := server.(*exec.Cmd)
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
}

// codeInScript runs sluice and wants an exit code: code 3 command webhook.get.
func codeInScript(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("sluice", args[1:]...)
	got := "0"
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = fmt.Sprint(exit.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("sluice %s ended with %s, want %s\n%s", strings.Join(args[1:], " "), got, args[0], ts.ReadFile("stderr"))
	}
}

// fieldInScript sets a variable to a field of the JSON that was printed last:
// field token uuid.
func fieldInScript(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(`"` + args[1] + `": *"?([^",}]*)`).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("there is no field %s in %s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], found[1])
}

// last6InScript sets a variable to the webhook's part of a trace id: last6 owner
// $id.
func last6InScript(ts *testscript.TestScript, _ bool, args []string) {
	owner, _, _ := strings.Cut(args[1], ":")
	ts.Setenv(args[0], owner)
}

// modeInScript wants the permissions of files: mode 600 file...
func modeInScript(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", name, got, args[0])
		}
	}
}
