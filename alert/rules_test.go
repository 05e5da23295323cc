package alert_test

import (
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/alert"
)

// put stores a rule.
func (h *house) put(args ...string) {
	h.t.Helper()
	if _, err := h.call("alert.put", args...); err != nil {
		h.t.Fatal(err)
	}
}

// TestRules: a condition counts from its time and its number on, and the most exact rule decides.
func TestRules(t *testing.T) {
	letters := func(count string) alert.Condition {
		facts := alert.Facts{Stats: sluice.ServerStats{FreeDisk: -1, Pipelines: []sluice.PipelineStats{{Pipeline: "lead", DeadLetters: int64(len(count))}}}}
		return facts.Conditions(time.Now())[0]
	}
	h := open(t)
	h.put("kind", "dead-letters", "atLeast", "3")
	h.put("kind", "dead-letters", "subject", "other*", "off", "true")
	h.after(0, letters("12"))
	h.after(2*time.Minute, letters("12"))
	h.expect()
	h.after(0, letters("123"))
	h.after(40*time.Second, letters("123"))
	h.expect("raised lead")
	h.after(0, letters("12")) // too few again
	h.expect("resolved lead")

	h.put("kind", "dead-letters", "subject", "lead", "after", "10m")
	h.after(0, letters("1"))
	h.after(9*time.Minute, letters("1"))
	h.expect()
	h.after(time.Minute, letters("1"))
	h.expect("raised lead")
	h.put("kind", "dead-letters", "subject", "le*", "off", "true") // less exact
	h.after(time.Minute, letters("1"))
	h.expect()
	h.put("kind", "dead-letters", "subject", "lead", "off", "true")
	h.after(time.Minute, letters("1")) // nobody is told that it ends
	h.expect()
	if found := h.get("open", "true"); len(found) != 0 {
		t.Errorf("open are %+v", found)
	}
	if err := h.alerts.Raise(t.Context(), letters("1")); err != nil {
		t.Fatal(err)
	}
	h.expect()
	h.put("kind", "dead-letters", "subject", "lead")
	h.put("kind", "dead-letters", "subject", "le*") // both are deleted
	h.alerts = h.server()                           // rules survive a restart
	h.after(0, letters("123"))
	h.after(time.Minute, letters("123"))
	h.expect("raised lead")
}

// TestShares: one failed run among many wakes nobody, and a share is known when runs have ceased.
func TestShares(t *testing.T) {
	h := open(t)
	h.put("kind", "pipeline-failing", "atLeast", "20%")
	hour := h.now.Truncate(time.Hour)
	runs := func(runs, errors int) {
		figures := map[string]sluice.RunFigures{"lead": {Runs: runs, Errors: errors}}
		h.hours = []sluice.Minute{{Time: hour, Pipelines: figures}}
	}
	runs(100, 1)
	h.after(0, failing())
	h.after(2*time.Minute, failing())
	h.after(30*time.Minute, failing())
	h.expect()
	runs(110, 9) // 8 of the last 10
	h.after(0, failing())
	h.after(time.Minute, failing())
	h.expect("raised lead")
	h.after(time.Hour, failing()) // without another run
	h.expect()
	runs(210, 10)
	h.after(0, failing())
	h.expect("resolved lead")
	h.put("kind", "pipeline-failing", "atLeast", "2")
	h.after(0, failing())
	h.after(2*time.Minute, failing())
	h.expect()
	runs(212, 12)
	h.after(0, failing())
	h.after(2*time.Minute, failing())
	h.expect("raised lead")
}

// TestSharesOfCalls: refused calls count against all of the last minutes.
func TestSharesOfCalls(t *testing.T) {
	h := open(t)
	h.put("kind", "quarantine", "subject", "webhook.*", "atLeast", "50%")
	hour := h.now.Truncate(time.Hour)
	refused := func(accepted, count int) alert.Condition {
		figures := sluice.WebhookFigures{CallFigures: sluice.CallFigures{Accepted: accepted, Rejected: count}}
		h.hours = []sluice.Minute{{Time: hour, Webhooks: map[string]sluice.WebhookFigures{"webhook.a": figures}}}
		facts := alert.Facts{Stats: sluice.ServerStats{FreeDisk: -1}, Quarantined: make([]sluice.QuarantinedCall, count)}
		for i := range facts.Quarantined {
			facts.Quarantined[i].EventKey = "webhook.a"
		}
		return facts.Conditions(h.now)[0]
	}
	few := refused(9, 1)
	h.after(0, few)
	h.after(2*time.Minute, few)
	if found := h.get(); len(found) != 0 {
		t.Errorf("there are %+v", found)
	}
	many := refused(9, 9)
	h.after(0, many)
	h.after(2*time.Minute, many)
	if found := h.get(); len(found) != 1 {
		t.Errorf("there are %+v", found)
	}
}

// TestBadRules: each is refused with its parameter, and nothing is stored.
func TestBadRules(t *testing.T) {
	h := open(t)
	for rule, parameter := range map[string]string{
		"":                                       "kind",
		"kind nonsense":                          "kind",
		"kind backlog subject a*b":               "subject",
		"kind backlog subject ü off true":        "subject",
		"kind backlog after 9s":                  "after",
		"kind backlog after 0s":                  "after",
		"kind backlog after 24h1s":               "after",
		"kind backlog after soon":                "after",
		"kind closed after 1m":                   "after",
		"kind backlog atLeast 0":                 "atLeast",
		"kind backlog atLeast -1":                "atLeast",
		"kind backlog atLeast 12345678":          "atLeast",
		"kind backlog atLeast 20%":               "atLeast",
		"kind dead-letters atLeast 20%":          "atLeast",
		"kind quarantine atLeast 101%":           "atLeast",
		"kind quarantine atLeast 0%":             "atLeast",
		"kind silence atLeast 3":                 "atLeast",
		"kind disk atLeast 3":                    "atLeast",
		"kind backlog off perhaps":               "off",
		"kind backlog off true more than-enough": "more",
	} {
		_, err := h.call("alert.put", strings.Fields(rule)...)
		if e := sluice.AsError(err); err == nil || e.Kind != sluice.Invalid || e.Parameter != parameter {
			t.Errorf("%s: %v about %q", rule, err, sluice.AsError(err).Parameter)
		}
	}
	if stored := h.engine.AlertRules.All(); len(stored) != 0 {
		t.Errorf("stored are %v", stored)
	}
}

// TestRulesAreListed: those that were stored, and what holds without.
func TestRulesAreListed(t *testing.T) {
	h := open(t)
	h.put("kind", "quarantine", "subject", "webhook.shop.*", "after", "5m", "atLeast", "10%")
	found, err := h.call("alert.rules")
	if err != nil {
		t.Fatal(err)
	}
	rules := found.(sluice.List[sluice.AlertRule]).Items
	if len(rules) != len(sluice.AlertKind("").Enum())+1 {
		t.Errorf("the rules are %+v", rules)
	}
	want := sluice.AlertRule{Kind: sluice.AlertQuarantine, Subject: "webhook.shop.*", After: sluice.Period(5 * time.Minute), AtLeast: "10%"}
	usual := sluice.AlertRule{Kind: sluice.AlertQuarantine, Subject: "*", After: sluice.Period(time.Minute), Default: true}
	for _, r := range rules {
		if r.Kind == sluice.AlertQuarantine && r != want && r != usual {
			t.Errorf("there is %+v", r)
		}
	}
}

// TestNews: pipelines are told title, cause and link, and an all-clear says that it is over.
func TestNews(t *testing.T) {
	h := open(t)
	h.after(0, failing())
	h.after(time.Minute, failing())
	a := h.get()[0]
	if a.Title != "lead fails" || a.Cause != "http-status 503 from shop.example." || a.URL != "https://hooks.example/pipelines/lead#failure" || !strings.HasPrefix(a.Message, "lead fails: http-status 503 from shop.example, since ") {
		t.Errorf("the alert is %+v", a)
	}
	worse := failing()
	worse.Many = "500 events wait"
	h.after(2*time.Minute, worse)
	if a = h.get()[0]; !strings.Contains(a.Message, "; 500 events wait, since ") {
		t.Errorf("the alert does not follow: %+v", a)
	}
	h.after(time.Minute)
	h.expect("raised lead", "resolved lead")
	if over := h.payload; over.Title != "lead no longer fails" || !strings.HasPrefix(over.Message, "lead no longer fails. It is over after ") || over.URL == "" || over.Cause == "" {
		t.Errorf("the all-clear is %+v", over)
	}
	if a = h.get()[0]; a.Title != "lead fails" {
		t.Errorf("the history says %+v", a)
	}
}
