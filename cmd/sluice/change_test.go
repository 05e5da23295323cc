package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// run runs the command line against the server, and returns what it prints.
func (h *hooked) run(t *testing.T, args ...string) string {
	t.Helper()
	out, failed, err := h.tryAt(t, h.url, args...)
	if err != nil {
		t.Fatalf("%v: %v: %s%s", args, err, out, failed)
	}
	return out
}

// tryAt runs it against the server at a URL, which may fail.
func (h *hooked) tryAt(t *testing.T, url string, args ...string) (out, failed string, err error) {
	t.Helper()
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, "SLUICE_URL="+url, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	printed, err := cmd.Output()
	return string(printed), complaints.String(), err
}

// refuse makes calls that the webhook refuses, since it is disabled. Those with these
// numbers have no id.
func (h *hooked) refuse(t *testing.T, calls int, without ...int) {
	t.Helper()
	for i := range calls {
		body := fmt.Sprintf(`{"id":%d}`, i)
		if slices.Contains(without, i) {
			body = `{}`
		}
		answer, err := http.Post(h.url+"/api/v3/command/webhook.receive?token="+h.token, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Fatalf("a call of a disabled webhook is answered with %d", answer.StatusCode)
		}
	}
}

// TestChangesGoOnBehindAPage: what flags select is changed however much it is, in the
// order in which it came, also where some of it can't be changed.
func TestChangesGoOnBehindAPage(t *testing.T) {
	t.Parallel()
	const calls = 201 // two pages, and one
	h := startHooked(t, "webhook.many")
	h.command(t, "webhook.put", "uuid="+h.token, "payloadType=raw", "disabled=true")
	h.refuse(t, calls)
	if out := h.run(t, "quarantine", "delete", "--event-key", "webhook.many", "--yes", "--json"); strings.TrimSpace(out) != `{"deleted":201}` {
		t.Errorf("deleted: %s", out)
	}

	h.refuse(t, calls, 0, calls-2)
	h.command(t, "webhook.put", "uuid="+h.token, "disabled=false", `schema={"required":["id"]}`)
	var done struct {
		Admitted, Refused int
		Items             []struct{ ID, Code string }
	}
	if err := json.Unmarshal([]byte(h.run(t, "quarantine", "admit", "--event-key", "webhook.many", "--json")), &done); err != nil {
		t.Fatal(err)
	}
	if done.Admitted != calls-2 || done.Refused != 2 || len(done.Items) != calls {
		t.Fatalf("%d are admitted and %d refused again, of %d", done.Admitted, done.Refused, len(done.Items))
	}
	if done.Items[0].Code != "payload-invalid" || done.Items[calls-2].Code != "payload-invalid" {
		t.Errorf("refused again are others than those that are bad: %+v", done.Items)
	}
	// A trace id has the time in it, after the webhook.
	millis := regexp.MustCompile(`:(.{8})`)
	if !slices.IsSortedFunc(done.Items, func(a, b struct{ ID, Code string }) int {
		return strings.Compare(millis.FindString(a.ID), millis.FindString(b.ID))
	}) {
		t.Errorf("they are admitted in another order than that in which they came: %+v", done.Items)
	}
}

// TestAChangeThatFailsTellsWhatItHasDone: how many were changed is not lost with the page
// that failed.
func TestAChangeThatFailsTellsWhatItHasDone(t *testing.T) {
	t.Parallel()
	h := startHooked(t, "webhook.many")
	h.command(t, "webhook.put", "uuid="+h.token, "disabled=true")
	h.refuse(t, 101)
	server, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	var pages atomic.Int32
	between := httputil.NewSingleHostReverseProxy(server)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/quarantine.delete") && pages.Add(1) > 1 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		between.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	out, failed, err := h.tryAt(t, proxy.URL, "quarantine", "delete", "--event-key", "webhook.many", "--yes", "-o", "table")
	if err == nil || out != "100 rejected calls: deleted\n" || !strings.HasPrefix(failed, "The same command goes on with the rest.\n") {
		t.Errorf("it ends with %v, and prints %q and %q", err, out, failed)
	}
	if out := h.run(t, "quarantine", "delete", "--event-key", "webhook.many", "--yes", "-o", "table"); out != "1 rejected call: deleted\n" {
		t.Errorf("again: %q", out)
	}
}
