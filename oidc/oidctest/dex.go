// Package oidctest runs Dex, an OpenID provider that others wrote, for tests: the
// program in testdata/dex of package oidc, which is a module of its own. No part of the
// service imports it.
package oidctest

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BaseURL is of a service that Dex sends browsers back to.
const BaseURL = "http://hooks.example.org"

// StartDex runs Dex until the test ends, and gives its issuer. Where TEST_DEX is not
// set, the test is skipped.
func StartDex(t *testing.T) (issuer string) {
	t.Helper()
	if os.Getenv("TEST_DEX") == "" {
		t.Skip("Dex was not tried: building it takes minutes. Set TEST_DEX=1 to do so.")
	}
	module, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "dex")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".") //nolint:gosec // a folder of the test
	build.Dir = filepath.Join(filepath.Dir(string(module)), "oidc", "testdata", "dex")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("can't build Dex: %v\n%s", err, out)
	}
	dex := exec.CommandContext(context.Background(), program) //nolint:gosec // just built; it ends with its input
	dex.Stderr = os.Stderr
	stop, err := dex.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := dex.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dex.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stop.Close() // it ends when its input does
		_, _ = io.Copy(io.Discard, out)
		_ = dex.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("Dex does not start: %v", err)
	}
	return strings.TrimSpace(line)
}
