//go:build unix

package serve_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sluice/serve"
)

// TestADiskThatHangs: calls are refused, and so is readiness, with a reason and a metric; and
// the server can be stopped. The newest block becomes a pipe, which opens when somebody
// writes to it.
func TestADiskThatHangs(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.hangs")
	s.call(hook, "text/plain", "x").wantStatus(t, http.StatusOK)
	if age := s.metric("sluice_sync_oldest_seconds"); age != "0" {
		t.Errorf("before, the oldest batch is %s seconds old", age)
	}
	block := filepath.Join(s.config.Data, "engine", "jetstream", "$G", "streams", "EVENTS", "msgs", "1.blk")
	if err := os.Remove(block); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(block, 0o600); err != nil {
		t.Fatal(err)
	}
	s.call(hook, "text/plain", "x").wantStatus(t, http.StatusServiceUnavailable)
	for path, refused := range map[string]answer{
		"/readyz":   s.send("GET", "/readyz", nil),
		receivePath: s.call(hook, "text/plain", "x"), // at once
	} {
		refused.wantStatus(t, http.StatusServiceUnavailable)
		if !strings.Contains(refused.String(), "disk-slow") {
			t.Errorf("%s says %s", path, refused)
		}
	}
	if ready := s.metric("sluice_engine_ready"); ready != "0" {
		t.Errorf("sluice_engine_ready is %s", ready)
	}
	if age, err := strconv.ParseFloat(s.metric("sluice_sync_oldest_seconds"), 64); err != nil || age < 3 {
		t.Errorf("the oldest batch is %v seconds old, %v", age, err)
	}
	s.client.CloseIdleConnections()
	if err := s.server.Stop(); err == nil || !strings.Contains(err.Error(), "a disk that hangs") {
		t.Errorf("the stop says %v", err)
	}
	s.server = nil
	opened, err := os.OpenFile(block, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = opened.Close()
	if err := os.Remove(block); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server leaves the folder", func() bool {
		_, err := serve.Check(s.config.Data, false, func(int64, int64) {})
		return err == nil || !strings.Contains(err.Error(), "in use")
	})
}
