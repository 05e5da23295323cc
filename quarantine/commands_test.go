package quarantine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
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
type door struct {
	open map[string]bool // by event key
	shut string          // a body that it never lets in
}

func (d *door) Diagnose(context.Context, *sluice.QuarantinedCall) []string {
	return []string{"It is forged."}
}

func (d *door) Show(_ context.Context, c *sluice.QuarantinedCall) (map[string]string, map[string][]string, []byte) {
	return map[string]string{"authorization": "***"}, nil, c.Request.Body
}

func (d *door) Admit(_ context.Context, c *sluice.QuarantinedCall, force bool) (sluice.Result, error) {
	if (!d.open[c.EventKey] || string(c.Request.Body) == d.shut) && !force {
		return sluice.Result{}, sluice.CodeSignatureInvalid.Errorf("The signature does not match.")
	}
	return sluice.Result{TraceID: "new:" + c.ID, CorrelationID: "c-" + c.ID}, nil
}

// A room is the quarantine of a real engine, with calls in it.
type room struct {
	t      *testing.T
	engine *jetstream.Engine
	keeper *quarantine.Keeper
	set    command.Set
	door   *door
	seen   []string
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
	r := &room{t: t, engine: e, door: &door{open: map[string]bool{}}}
	r.keeper = quarantine.NewKeeper(quarantine.Options{
		Store: e.Quarantine, Log: slog.New(slog.DiscardHandler), Receiver: r.door,
		Seen: func(_ context.Context, _, target string) { r.seen = append(r.seen, target) },
	})
	go r.keeper.Run(t.Context())
	begin := time.Now().Add(-time.Minute)
	for i := range calls {
		key := []string{"webhook.a", "webhook.b"}[i%2]
		r.keep(key, begin.Add(time.Duration(i)*time.Second), fmt.Appendf(nil, "n%3d", i))
	}
	r.set = command.NewSet(func(context.Context, sluice.AuditEntry) {}, quarantine.Commands(r.keeper))
	return r
}

// keep lets the keeper have a call.
func (r *room) keep(key string, at time.Time, body []byte) {
	r.t.Helper()
	taken := r.keeper.Keep(key, len(body), func() *sluice.QuarantinedCall {
		return &sluice.QuarantinedCall{
			ID: sluice.NewTraceID("abcdef", at), Token: key, EventKey: key, Code: "signature-invalid", StatusCode: 401, Time: at, Size: len(body),
			Request: sluice.KeptRequest{Method: "POST", Header: map[string][]string{}, Body: body},
		}
	})
	if !taken {
		r.t.Fatal("a call is not kept")
	}
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

// TestPagesBehindCallsThatHaveGone: a list goes on behind calls that have gone. Calls are admitted
// and deleted in the order in which they came, page by page, also where some of a page are
// rejected again.
func TestPagesBehindCallsThatHaveGone(t *testing.T) {
	r := open(t, 14)
	of := []string{"eventKey", "webhook.a", "limit", "3"}
	run := func(name, limit string, pairs ...string) any {
		t.Helper()
		out, err := r.call([]string{"*"}, name, append(pairs, "eventKey", "webhook.a", "limit", limit)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	bodies := func(l sluice.List[sluice.QuarantineView]) (all string) {
		for _, item := range l.Items {
			all += item.Body
		}
		return all
	}
	came := map[string]string{} // ids by body
	for _, item := range r.get([]string{"*"}, "eventKey", "webhook.a").Items {
		came[item.Body] = item.ID
	}
	page := r.get([]string{"*"}, of...)
	if got := bodies(page); got != "n 12n 10n  8" {
		t.Fatalf("the first page is %q", got)
	}
	if _, err := r.call([]string{"*"}, "quarantine.delete", "id", came["n  8"]); err != nil {
		t.Fatal(err)
	}
	if got := bodies(r.get([]string{"*"}, append(slices.Clone(of), "after", page.Next)...)); got != "n  6n  4n  2" {
		t.Errorf("behind a call that has gone: %q", got)
	}
	for _, name := range []string{"quarantine.get", "quarantine.admit", "quarantine.delete"} {
		for _, after := range []string{"nonsense:abc", came["n  0"]} {
			_, err := r.call([]string{"*"}, name, append(slices.Clone(of), "after", after)...)
			if sluice.AsError(err).Code != "parameter-invalid" {
				t.Errorf("%s behind %s: %v", name, after, err)
			}
		}
	}
	r.door.open["webhook.a"], r.door.shut = true, "n  2"
	first := run("quarantine.admit", "3").(sluice.Admissions)
	if first.Admitted != 2 || first.Refused != 1 || first.Next == "" || len(first.Items) != 3 ||
		first.Items[0].ID != came["n  0"] || first.Items[1].ID != came["n  2"] || first.Items[1].Code == "" || first.Items[2].ID != came["n  4"] {
		t.Fatalf("the first page admitted is %+v", first)
	}
	second := run("quarantine.admit", "1", "after", first.Next).(sluice.Admissions)
	if second.Admitted != 1 || second.Items[0].ID != came["n  6"] || second.Next == "" {
		t.Fatalf("the second page admitted is %+v", second)
	}
	deleted := run("quarantine.delete", "1", "after", second.Next).(sluice.Deletions)
	if deleted.Deleted != 1 || deleted.Next == "" {
		t.Fatalf("deleted behind that: %+v", deleted)
	}
	if last := run("quarantine.delete", "3", "after", deleted.Next).(sluice.Deletions); last.Deleted != 1 || last.Next != "" {
		t.Errorf("deleted at last: %+v", last)
	}
	if left := r.get([]string{"*"}, "eventKey", "webhook.a"); bodies(left) != "n  2" {
		t.Errorf("left: %+v", left)
	}
}

// TestAWaveDoesNotPushOutOthers: forged calls of one webhook drive out their own kind.
func TestAWaveDoesNotPushOutOthers(t *testing.T) {
	r := open(t, 0)
	now := time.Now()
	r.keep("webhook.quiet", now, []byte("{}"))
	large := bytes.Repeat([]byte("x"), 4<<20)
	for i := range 12 {
		r.keep("webhook.loud", now.Add(time.Duration(i)*time.Millisecond), large)
		r.get([]string{"*"}, "limit", "1") // waits until it is stored
	}
	if items := r.get([]string{"*"}, "eventKey", "webhook.quiet").Items; len(items) != 1 {
		t.Errorf("the other webhook has %d", len(items))
	}
	n := len(r.get([]string{"*"}, "eventKey", "webhook.loud", "brief", "true").Items)
	if n < 4 || n > 6 {
		t.Errorf("%d large calls are kept within 32 MiB", n)
	}
	if evicted := r.engine.Quarantine.PushedOut(); evicted != int64(12-n) || r.keeper.Missed() != 0 {
		t.Errorf("%d calls are counted as driven out, and %d as missed, want %d", evicted, r.keeper.Missed(), 12-n)
	}
}

// TestRoomIsGivenBack: however much a call weighs that is stored, the room that was reserved for
// it is free afterwards.
func TestRoomIsGivenBack(t *testing.T) {
	r := open(t, 0)
	for i := range 40 { // 40 MiB in all; 16 MiB of one webhook may wait
		taken := r.keeper.Keep("webhook.a", 1<<20, func() *sluice.QuarantinedCall {
			return &sluice.QuarantinedCall{ID: sluice.NewTraceID("abcdef", time.Now()), Token: "webhook.a", EventKey: "webhook.a", Size: 7, Time: time.Now()}
		})
		if !taken {
			t.Fatalf("call %d found no room", i)
		}
		r.get([]string{"*"}) // waits until it is stored
	}
}
