package serve_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/serve"
)

// soon lets alerts be raised after a moment.
var soon = serve.Timeouts{Alert: 300 * time.Millisecond}

// telling is a pipeline that passes alerts on to another system.
func telling(out *outside, more ...string) string {
	return listening("sluice.alert.#", append(more, "http.request: {url: '"+out.url+"/alert', method: POST, body: '#{body.payload}'}")...)
}

// told waits for an alert at the other system.
func (o *outside) told(what string) (told map[string]any) {
	o.t.Helper()
	eventually(o.t, what, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, call := range o.calls {
			var payload map[string]any
			if json.Unmarshal([]byte(call.body), &payload) == nil && strings.TrimSpace(fmt.Sprint(payload["state"], " ", payload["kind"], " ", cmp.Or(payload["subject"], any("")))) == what {
				told = payload
				return true
			}
		}
		return false
	})
	return told
}

// TestAlertsLeaveTheHouse: a pipeline that fails is told to those who listen, and so is that
// it works again, once each, also after a restart. It is never told of itself.
func TestAlertsLeaveTheHouse(t *testing.T) {
	t.Parallel()
	out := newOutside(t)
	s := startFor(t, soon, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.lead", "payloadType", "raw")
	s.store("teller", telling(out))
	s.store("lead", listening("webhook.lead", "assert: {true: '#{body.payload == \"good\"}'}"))
	s.store("both", telling(out, "assert: {true: false}"))
	s.call(hook, "text/plain", "bad").wantStatus(t, 200)
	raised := out.told("raised pipeline-failing lead")
	if raised["severity"] != "warning" || raised["since"] == nil || raised["until"] != nil || raised["title"] != "lead fails" || raised["cause"] != "assertion-failed in line 4" || !strings.HasPrefix(raised["message"].(string), "lead fails: assertion-failed in line 4, since ") {
		t.Errorf("the alert is %v", raised)
	}
	out.told("raised dead-letters lead")
	out.told("raised pipeline-failing both") // which fails at each alert, is known by others
	out.told("raised dead-letters both")
	s.stop()
	s.resume()
	var open sluice.List[sluice.Alert]
	out.told("resolved closed") // the stop was told of as well
	s.command("alert.get", map[string]any{"open": true}).wantStatus(t, 200).into(t, &open)
	if len(open.Items) != 4 {
		t.Errorf("open are %+v", open)
	}
	s.call(hook, "text/plain", "good").wantStatus(t, 200)
	out.told("resolved pipeline-failing lead")
	s.command("deadletter.delete", map[string]any{"pipeline": "lead"}).wantStatus(t, 200)
	out.told("resolved dead-letters lead")
	// It failed at the four alerts about lead and the two about the stop, and at none about itself.
	var page struct{ Items []map[string]any }
	eventually(t, "both to have failed six times", func() bool {
		s.command("deadletter.get", map[string]any{"pipeline": "both"}).wantStatus(t, 200).into(t, &page)
		return len(page.Items) >= 6
	})
	if len(page.Items) > 6 {
		t.Errorf("it was told of itself: %v", page.Items)
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	seen := make(map[string]int)
	for _, call := range out.calls {
		if seen[call.body]++; seen[call.body] > 1 {
			t.Errorf("told twice: %s", call.body)
		}
	}
	if metrics := string(s.send("GET", "/metrics", nil, asAdmin).body); !strings.Contains(metrics, `sluice_alerts{kind="dead-letters",subject="both"} 1`) {
		t.Errorf("the metrics are %s", metrics)
	}
}

// TestAlertPermissions: who reads figures reads alerts; support and developers mute them.
func TestAlertPermissions(t *testing.T) {
	t.Parallel()
	s := startFor(t, soon)
	hook := s.create("webhook.lead", "payloadType", "raw", "expectEvery", "1m", "signingSecret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "provider", "standard-webhooks")
	s.call(hook, "text/plain", "forged").wantStatus(t, 401)
	var open sluice.List[sluice.Alert]
	eventually(t, "the alert", func() bool {
		s.command("alert.get", map[string]any{"kind": "quarantine"}).wantStatus(t, 200).into(t, &open)
		return len(open.Items) == 1
	})
	if a := open.Items[0]; a.Subject != "webhook.lead" || a.Severity != "warning" || !a.Open() {
		t.Errorf("the alert is %+v", a)
	}
	for role, want := range map[string][2]int{"viewer": {200, 403}, "support": {200, 200}, "developer": {200, 200}, "anonymous": {403, 403}} {
		s.command("iam.user.put", map[string]any{"username": role + "-user", "password": "correct horse battery", "roles": []string{role}}).wantStatus(t, 200)
		as := func(r *http.Request) { r.SetBasicAuth(role+"-user", "correct horse battery") }
		s.command("alert.get", nil, as).wantStatus(t, want[0])
		s.command("alert.mute", map[string]any{"id": open.Items[0].ID, "for": "1h"}, as).wantStatus(t, want[1])
	}
	s.command("alert.mute", map[string]any{"id": "none", "for": "1h"}).wantProblem(t, 404, "alert-unknown")
}

// TestAlertRulesOfTeams: administrators and developers store rules, within their scopes.
func TestAlertRulesOfTeams(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.role.put", map[string]any{"role": "team", "like": "developer", "scope": []string{"partner"}}).wantStatus(t, 200)
	as := map[string]func(*http.Request){}
	for _, role := range []string{"viewer", "support", "developer", "team"} {
		s.command("iam.user.put", map[string]any{"username": role + "-user", "password": "correct horse battery", "roles": []string{role}}).wantStatus(t, 200)
		as[role] = func(r *http.Request) { r.SetBasicAuth(role+"-user", "correct horse battery") }
	}
	for _, test := range []struct {
		role, kind, subject string
		want                int
	}{
		{"viewer", "backlog", "partner", 403},
		{"support", "backlog", "partner", 403},
		{"developer", "backlog", "shop", 200},
		{"developer", "disk", "*", 200},
		{"team", "backlog", "partner", 200},
		{"team", "quarantine", "webhook.partner.*", 200},
		{"team", "backlog", "partner*", 403},
		{"team", "backlog", "*", 403},
		{"team", "backlog", "shop", 403},
		{"team", "quarantine", "webhook.*", 403},
		{"team", "disk", "*", 403},
		{"team", "engine", "partner", 403},
	} {
		if got := s.command("alert.put", map[string]any{"kind": test.kind, "subject": test.subject, "after": "2m"}, as[test.role]); got.status != test.want {
			t.Errorf("%+v: %d %s", test, got.status, got.body)
		}
	}
	for role, want := range map[string]string{
		"developer": "backlog * true, backlog partner false, backlog shop false, certificate * true, closed * true, damage * true, dead-letters * true, disk * false, engine * true, pipeline-failing * true, quarantine * true, quarantine webhook.partner.* false, silence * true, subscription * true",
		"team":      "backlog * true, backlog partner false, dead-letters * true, pipeline-failing * true, quarantine * true, quarantine webhook.partner.* false, silence * true, subscription * true",
	} {
		var rules sluice.List[sluice.AlertRule]
		s.command("alert.rules", nil, as[role]).wantStatus(t, 200).into(t, &rules)
		var got []string
		for _, r := range rules.Items {
			got = append(got, fmt.Sprint(r.Kind, " ", r.Subject, " ", r.Default))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s sees %v", role, got)
		}
	}
}
