package alert_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sluice"
	"sluice/alert"
	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// A house is a server's alerts on a real engine, with conditions and a clock that tests set.
type house struct {
	t      *testing.T
	engine *jetstream.Engine
	alerts *alert.Alerts
	now    time.Time
	holds  []alert.Condition
	hours  []sluice.Minute
	failed error
	cursor string

	payload news // of the event that was seen last
}

// news is what an event tells of an alert.
type news struct{ State, Kind, Subject, Severity, Since, Until, Title, Cause, Message, URL string }

func open(t *testing.T) *house {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	h := &house{t: t, engine: e, now: time.Now()}
	h.alerts = h.server()
	if _, h.cursor, err = e.Stored.After(t.Context(), sluice.EventQuery{Pattern: "sluice.alert.#", Limit: 1}); err != nil {
		t.Fatal(err)
	}
	return h
}

// server returns the alerts of another process, or of another server.
func (h *house) server() *alert.Alerts {
	return alert.New(alert.Options{
		Records: h.engine.Alerts, Rules: h.engine.AlertRules, PublicURL: "https://hooks.example", Hours: func(int) []sluice.Minute { return h.hours }, Events: h.engine.Events, Namespace: "test", Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return h.now }, Quiet: func() bool { return false },
		Conditions: func(context.Context, time.Time) ([]alert.Condition, error) { return h.holds, h.failed },
	})
}

// after lets some time pass, and the server look twice.
func (h *house) after(d time.Duration, holds ...alert.Condition) {
	h.t.Helper()
	h.now, h.holds = h.now.Add(d), holds
	for range 2 {
		if err := h.alerts.Step(h.t.Context()); !errors.Is(err, h.failed) {
			h.t.Fatal(err)
		}
		h.now = h.now.Add(10 * time.Second)
	}
}

// told returns the events since it was last called.
func (h *house) told() (told []string) {
	h.t.Helper()
	events, next, err := h.engine.Stored.After(h.t.Context(), sluice.EventQuery{Pattern: "sluice.alert.#", After: h.cursor, Limit: 100})
	if err != nil {
		h.t.Fatal(err)
	}
	h.cursor = next
	for _, text := range events {
		var e struct {
			sluice.Event
			Payload news `json:"payload"`
		}
		if err := json.Unmarshal(text, &e); err != nil {
			h.t.Fatal(err)
		}
		if p := e.Payload; e.EventKey != "sluice.alert."+p.Kind || p.Severity == "" || p.Since == "" || (p.Until == "") != (p.State == "raised") || p.Message == "" || e.Except != p.Subject {
			h.t.Errorf("the event is %s", text)
		}
		h.payload = e.Payload
		told = append(told, e.Payload.State+" "+e.Payload.Subject)
	}
	return told
}

func (h *house) call(name string, args ...string) (any, error) {
	set := command.NewSet(func(context.Context, sluice.AuditEntry) {}, alert.Commands(h.alerts))
	cmd, _ := set.Find(name)
	var given command.Args
	for i := 0; i < len(args); i += 2 {
		given = append(given, command.Arg{Name: args[i], Value: command.Text(args[i+1])})
	}
	return set.Call(sluice.WithUser(h.t.Context(), sluice.User{Permissions: []string{"*"}}), cmd, given)
}

func (h *house) get(args ...string) []sluice.Alert {
	h.t.Helper()
	found, err := h.call("alert.get", args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return found.(sluice.List[sluice.Alert]).Items
}

func (h *house) expect(want ...string) {
	h.t.Helper()
	if got := h.told(); fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Errorf("told %v, want %v", got, want)
	}
}

func failing() alert.Condition {
	return alert.Condition{Kind: sluice.AlertPipelineFailing, Subject: "lead", Severity: sluice.SeverityWarning, Cause: "http-status 503 from shop.example."}
}

// TestAlertsAreToldOnce: raised, resolved, and raised again, also by a server that was
// restarted, and by two of them.
func TestAlertsAreToldOnce(t *testing.T) {
	h := open(t)
	h.after(0, failing())
	h.expect()
	h.after(time.Minute, failing())
	h.expect("raised lead")
	h.alerts = h.server() // a restart
	h.after(time.Minute, failing())
	h.after(time.Minute, failing())
	h.expect()
	if found := h.get("open", "true"); len(found) != 1 || found[0].Count != 1 || found[0].Kind != sluice.AlertPipelineFailing {
		t.Errorf("open are %+v", found)
	}
	h.after(time.Second)
	h.expect("resolved lead")
	another := h.server()
	for range 10 {
		h.after(20*time.Second, failing())
		if err := another.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	h.expect("raised lead")
	if found := h.get(); len(found) != 2 || found[0].Count != 2 || !found[0].Open() || found[1].Open() {
		t.Errorf("the history is %+v", found)
	}
	if found := h.get("kind", "disk"); len(found) != 0 {
		t.Errorf("of another kind are %+v", found)
	}
	h.failed = errors.New("the engine does not reply")
	h.after(time.Minute)
	if h.expect(); len(h.get("open", "true")) != 1 {
		t.Error("an alert is resolved though nobody knows whether it holds")
	}
	h.failed = nil
	h.after(31 * 24 * time.Hour)
	if found := h.get(); len(found) != 1 {
		t.Errorf("after a month there are %+v", found)
	}
}

// TestMutedAlertsAreNotTold: neither raised nor resolved, also when they are raised again.
// What is open when that is over is told then.
func TestMutedAlertsAreNotTold(t *testing.T) {
	h := open(t)
	h.after(0, failing())
	h.after(time.Minute, failing())
	h.expect("raised lead")
	id := h.get()[0].ID
	if _, err := h.call("alert.mute", "id", id, "for", "1h"); err != nil {
		t.Fatal(err)
	}
	h.after(time.Minute)
	h.after(time.Minute, failing())
	h.after(time.Minute, failing())
	h.expect()
	if found := h.get("open", "true"); len(found) != 1 || found[0].MutedUntil.IsZero() {
		t.Errorf("open are %+v", found)
	}
	h.after(2*time.Hour, failing())
	h.expect("raised lead")
	if _, err := h.call("alert.mute", "id", "no-such", "for", "1h"); !sluice.CodeAlertUnknown.Is(err) || sluice.AsError(err).Kind != sluice.NotFound {
		t.Errorf("an unknown id: %v", err)
	}
}

// TestAQuietServerTellsNobody: what is open when that is over is told then.
func TestAQuietServerTellsNobody(t *testing.T) {
	h := open(t)
	quiet := true
	h.alerts.Quiet = func() bool { return quiet }
	passing := failing()
	passing.Subject = "passing"
	h.after(0, failing(), passing)
	h.after(time.Minute, failing(), passing)
	h.after(time.Minute, failing())
	h.expect()
	if found := h.get(); len(found) != 2 {
		t.Errorf("there are %+v", found)
	}
	quiet = false
	h.after(time.Minute, failing())
	h.expect("raised lead")
}

// TestRaise: what is found at the start is told at once, and is over soon.
func TestRaise(t *testing.T) {
	h := open(t)
	closed := alert.Condition{Kind: sluice.AlertClosed, Severity: sluice.SeverityCritical, Cause: "No calls were taken for an hour.", Since: h.now.Add(-time.Hour)}
	if err := h.alerts.Raise(t.Context(), closed); err != nil {
		t.Fatal(err)
	}
	h.expect("raised ")
	h.after(0)
	h.expect("resolved ")
}
