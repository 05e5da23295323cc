package quarantine_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/quarantine"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// A door is the receiver that rejected the calls: it lets those in that its webhook
// takes by now.
type door struct{ open map[string]bool } // by event key

func (d *door) Show(_ context.Context, c *sluice.QuarantinedCall) (map[string]string, map[string][]string, []byte) {
	return map[string]string{"authorization": "***"}, nil, c.Request.Body
}

func (d *door) Admit(_ context.Context, c *sluice.QuarantinedCall, force bool) (sluice.Result, error) {
	if !d.open[c.EventKey] && !force {
		return sluice.Result{}, sluice.Errorf(sluice.CodeSignatureInvalid, "The signature does not match.")
	}
	return sluice.Result{TraceID: "new:" + c.ID, CorrelationID: "c-" + c.ID}, nil
}

// A room is the quarantine of a real engine, with calls in it.
type room struct {
	t    *testing.T
	set  command.Set
	door *door
	seen []string
}

func open(t *testing.T, calls int) *room {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.SetUp()
	keeper := quarantine.NewKeeper(quarantine.Options{
		Store: e.Quarantine, Log: slog.New(slog.DiscardHandler),
		Diagnose: func(context.Context, *sluice.QuarantinedCall) []string { return []string{"It is forged."} },
	})
	go keeper.Run(t.Context())
	r := &room{t: t, door: &door{open: map[string]bool{}}}
	begin := time.Now().Add(-time.Minute)
	for i := range calls {
		key := []string{"webhook.a", "webhook.b"}[i%2]
		at := begin.Add(time.Duration(i) * time.Second)
		taken := keeper.Keep(key, 4, func() *sluice.QuarantinedCall {
			return &sluice.QuarantinedCall{
				ID: sluice.NewTraceID("abcdef", at), Token: key, EventKey: key, Code: "signature-invalid", StatusCode: 401, Time: at, Size: 4,
				Request: sluice.KeptRequest{Method: "POST", Header: map[string][]string{}, Body: fmt.Appendf(nil, "n%3d", i)},
			}
		})
		if !taken {
			t.Fatal("a call is not kept")
		}
	}
	r.set = command.NewSet(func(context.Context, sluice.AuditEntry) {},
		quarantine.Commands(keeper, r.door, func(_ context.Context, _, target string) { r.seen = append(r.seen, target) }))
	return r
}

func (r *room) call(permissions []string, name string, pairs ...string) (any, error) {
	cmd, _ := r.set.Find(name)
	var args command.Args
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, command.Arg{Name: pairs[i], Value: command.Text(pairs[i+1])})
	}
	return r.set.Call(sluice.WithUser(r.t.Context(), sluice.User{Permissions: permissions}), cmd, args)
}

func (r *room) get(permissions []string, pairs ...string) sluice.List[sluice.QuarantineView] {
	r.t.Helper()
	out, err := r.call(permissions, "quarantine.get", pairs...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out.(sluice.List[sluice.QuarantineView])
}

// TestWhatIsShownOfRejectedCalls: newest first and page by page; what was sent only to
// users who may see payloads, which is told, and never where it is to be brief.
func TestWhatIsShownOfRejectedCalls(t *testing.T) {
	r := open(t, 5)
	found := r.get([]string{"*"}, "limit", "3")
	if len(found.Items) != 3 || found.Next == "" || found.Items[0].Body != "n  4" || found.Items[0].Diagnosis[0] != "It is forged." || len(r.seen) != 3 {
		t.Errorf("the first page is %+v, told of %v", found, r.seen)
	}
	rest := r.get([]string{"*"}, "limit", "3", "after", found.Next)
	if len(rest.Items) != 2 || rest.Next != "" || rest.Items[1].Body != "n  0" {
		t.Errorf("the second page is %+v", rest)
	}
	r.seen = nil
	for _, shown := range []sluice.List[sluice.QuarantineView]{r.get([]string{sluice.MayRead}), r.get([]string{"*"}, "brief", "true")} {
		if len(shown.Items) != 5 || shown.Items[0].Body != "" || shown.Items[0].Headers != nil || len(r.seen) != 0 {
			t.Errorf("shown is %+v, told of %v", shown.Items[0], r.seen)
		}
	}
}

// TestRejectedCallsAreAdmitted: the oldest first, page by page; those that are rejected
// again stay, unless they are let in by force.
func TestRejectedCallsAreAdmitted(t *testing.T) {
	r := open(t, 6)
	admit := func(pairs ...string) sluice.Admissions {
		t.Helper()
		out, err := r.call([]string{"*"}, "quarantine.admit", pairs...)
		if err != nil {
			t.Fatal(err)
		}
		return out.(sluice.Admissions)
	}
	if a := admit("eventKey", "webhook.a"); a.Admitted != 0 || a.Refused != 3 || a.Items[0].Code != "signature-invalid" {
		t.Errorf("behind a closed door: %+v", a)
	}
	r.door.open["webhook.a"] = true
	first := admit("code", "signature-invalid", "limit", "4")
	if first.Admitted != 2 || first.Refused != 2 || len(first.Items) != 4 || first.Next == "" || first.Items[0].TraceID != "new:"+first.Items[0].ID {
		t.Errorf("the first page: %+v", first)
	}
	second := admit("code", "signature-invalid", "limit", "4", "after", first.Next)
	if second.Admitted != 1 || second.Refused != 1 || second.Next != "" {
		t.Errorf("the second page: %+v", second)
	}
	if a := admit("eventKey", "webhook.b", "force", "true"); a.Admitted != 3 || len(r.get([]string{"*"}).Items) != 0 {
		t.Errorf("by force: %+v", a)
	}
	if _, err := r.call([]string{"*"}, "quarantine.admit", "id", first.Items[0].ID); sluice.AsError(err).Kind != sluice.NotFound {
		t.Errorf("one that is not there any more: %v", err)
	}
}

// TestRejectedCallsAreDeleted: those that are selected, and only with a selection.
func TestRejectedCallsAreDeleted(t *testing.T) {
	r := open(t, 4)
	out, err := r.call([]string{"*"}, "quarantine.delete", "eventKey", "webhook.a", "limit", "1")
	if done, _ := out.(sluice.Deletions); err != nil || done.Deleted != 1 || done.Next == "" || done.Items != nil {
		t.Errorf("the first: %+v, %v", out, err)
	}
	if _, err := r.call([]string{"*"}, "quarantine.delete"); sluice.AsError(err).Kind != sluice.Invalid {
		t.Errorf("without a selection: %v", err)
	}
	if left := r.get([]string{"*"}).Items; len(left) != 3 {
		t.Errorf("%d are left, want 3", len(left))
	}
}
