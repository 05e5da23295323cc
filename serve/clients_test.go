package serve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedClients: what programs make of the description calls the server,
// and checkers of such descriptions that others wrote find nothing to warn of.
// It needs npm, and gets the generators from the Internet.
func TestGeneratedClients(t *testing.T) {
	if os.Getenv("TEST_CLIENTS") == "" {
		t.Skip("No client was generated: that takes a minute. Set TEST_CLIENTS=1 to do so.")
	}
	t.Parallel()
	s := start(t)
	folder := func(t *testing.T) (run func(name string, args ...string)) {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/clients")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "generated"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "openapi.json"), s.send("GET", "/openapi.json", nil, asAdmin).body, 0o600); err != nil {
			t.Fatal(err)
		}
		return func(name string, args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), name, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOWORK=off", "SERVER="+s.server.URL(), "PASSWORD="+adminPassword, "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s %v: %v\n%s", name, args, err, out)
			}
		}
	}
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		run := folder(t)
		run("go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "generated", "-o", "generated/client.go", "openapi.json")
		run("go", "run", ".")
	})
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		run := folder(t)
		run("npm", "ci", "--no-audit", "--no-fund", "--silent", "--prefer-offline")
		run("node_modules/.bin/redocly", "lint", "--extends", "recommended-strict", "openapi.json")
		run("node_modules/.bin/spectral", "lint", "--fail-severity", "warn", "openapi.json")
		run("node_modules/.bin/openapi-typescript", "openapi.json", "-o", "generated/api.d.ts")
		run("node_modules/.bin/tsc")
		run("node", "built/client.js")
	})
}
