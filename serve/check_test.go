package serve_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/serve"
)

// TestCheck: a folder is read as a whole; what is damaged is told, keeps the
// server from serving, and can be accepted.
func TestCheck(t *testing.T) {
	s := start(t)
	hook := s.create("webhook.checked")
	s.call(hook, "text/plain", "x").wantStatus(t, http.StatusOK)
	check := func(accept bool) []string {
		t.Helper()
		findings, err := serve.Check(s.config.Data, accept, func(int64, int64) {})
		if err != nil {
			t.Fatal(err)
		}
		return findings
	}
	if _, err := serve.Check(s.config.Data, false, func(int64, int64) {}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the folder of a running server is checked: %v", err)
	}
	s.stop()
	if findings := check(false); len(findings) != 0 {
		t.Errorf("a whole folder has damages: %q", findings)
	}
	blocks, err := filepath.Glob(filepath.Join(s.config.Data, "engine", "jetstream", "$G", "streams", "KV_webhooks-*", "msgs", "1.blk"))
	if err != nil || len(blocks) != 1 {
		t.Fatalf("the files of the webhooks are %v (%v)", blocks, err)
	}
	info, err := os.Stat(blocks[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blocks[0], make([]byte, info.Size()), 0o600); err != nil {
		t.Fatal(err)
	}
	if findings := strings.Join(check(false), "\n"); !strings.Contains(findings, "changes 1 to 1 are missing; there were 1 records") {
		t.Errorf("the damages are %q", findings)
	}
	check(true)
	s.resume()
	s.call(hook, "text/plain", "x").wantStatus(t, http.StatusUnauthorized)
}
