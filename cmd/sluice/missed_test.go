package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMissedCalls: the command asks the sender, and tells what is missing.
func TestMissedCalls(t *testing.T) {
	t.Parallel()
	orders := make(chan string, 1)
	sender := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			orders <- r.URL.Path
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprintf(w, `[{"id":7,"guid":"guid-7","delivered_at":%q}]`, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
	}))
	defer sender.Close()
	cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--http-allow", "127.0.0.0/8")
	cmd.Env = append(cmd.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour")
	r := start(t, cmd)
	defer r.stop(t, syscall.SIGTERM)
	run := func(args ...string) string {
		t.Helper()
		cmd := program(t, args...)
		cmd.Env = append(cmd.Env, "SLUICE_URL="+r.url, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("webhook", "create", "webhook.code", "--provider", "github", "--signing-secret", "a secret of twenty characters", "--api-url", sender.URL+"/repos/o/r/hooks/1", "--api-secret", "t0ken")
	if out := run("webhook", "missed", "webhook.code", "--since", "1d", "--dry-run", "-o", "table"); !strings.Contains(out, "  missed  guid-7\n") || !strings.Contains(out, "asked 1, had 0, missed 1\n") {
		t.Errorf("a dry run says %s", out)
	}
	if out := run("webhook", "missed", "webhook.code", "--since", "1d", "-o", "json"); !strings.Contains(out, `"redelivered"`) {
		t.Errorf("it says %s", out)
	}
	if order := <-orders; order != "/repos/o/r/hooks/1/deliveries/7/attempts" {
		t.Errorf("the sender was asked for %s", order)
	}
}
