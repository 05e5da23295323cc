package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// run runs the command line against the server, and returns what it prints.
func (h *hooked) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, "SLUICE_URL="+h.url, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s%s", args, err, out, failed.String())
	}
	return string(out)
}

// TestChangesGoOnBehindAPage: what flags select is changed however much it is, in the
// order in which it came, also where some of it can't be changed.
func TestChangesGoOnBehindAPage(t *testing.T) {
	t.Parallel()
	const calls = 201 // two pages, and one
	h := startHooked(t, "webhook.many")
	h.command(t, "webhook.put", "uuid="+h.token, "payloadType=raw", "disabled=true")
	refuse := func(bad ...int) {
		for i := range calls {
			body := fmt.Sprintf(`{"id":%d}`, i)
			if slices.Contains(bad, i) {
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
	refuse()
	if out := h.run(t, "quarantine", "delete", "--event-key", "webhook.many", "--yes", "--json"); strings.TrimSpace(out) != `{"deleted":201}` {
		t.Errorf("deleted: %s", out)
	}

	refuse(0, calls-2)
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
