package event_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/event"
	"sluice/jetstream/journal"
)

// erasing returns the commands of a store that can erase, with what notes them in the audit log.
func erasing(s *store, note func(context.Context, sluice.AuditEntry)) command.Set {
	return command.NewSet(func(context.Context, sluice.AuditEntry) {}, event.Commands(event.Options{
		Events: s, Stored: s.Stored, Journal: s.Journal, Waiting: s.Queue,
		Namespace: "default", Quarantine: s.Quarantine, Erasures: s.Erasures, Note: note,
	}))
}

// TestErase: a call that is chosen by what is in its payload goes with its replays, and the
// audit log names them, but not the text.
func TestErase(t *testing.T) {
	t.Parallel()
	s := open(t)
	var noted []string
	set := erasing(s, func(_ context.Context, e sluice.AuditEntry) { noted = append(noted, e.Target) })
	ctx := sluice.WithUser(t.Context(), sluice.User{Permissions: []string{"*"}})
	call := func(name string, args command.Args) (any, error) {
		cmd, _ := set.Find(name)
		return set.Call(ctx, cmd, args)
	}
	accept := func(payload string) string {
		e := &sluice.Event{
			EventKey: "webhook.erase", Namespace: "default", TraceID: sluice.NewTraceID("abcdef", time.Now()),
			ReceivedAt: time.Now(), Payload: json.RawMessage(payload), PayloadType: sluice.Raw,
			PayloadEncoding: sluice.EncodingJSON, Method: "POST",
		}
		result, err := s.Accept(ctx, e, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Journal.Hear(journal.Answered{Call: sluice.Call{TraceID: e.TraceID, CorrelationID: result.CorrelationID,
			EventKey: e.EventKey, Time: e.ReceivedAt, Status: sluice.StatusOK}})
		return e.TraceID
	}
	gone, stays := accept(`{"email":"eve@example.com"}`), accept(`{"email":"bob@example.com"}`)
	if _, err := call("event.replay", command.Args{{Name: "traceId", Value: gone}}); err != nil {
		t.Fatal(err)
	}
	refuse := func(body string) string {
		c := &sluice.QuarantinedCall{
			ID: sluice.NewTraceID("abcdef", time.Now()), EventKey: "webhook.erase", Time: time.Now(),
			Request: sluice.KeptRequest{Body: []byte(body)},
		}
		if err := s.Quarantine.Put(ctx, c); err != nil {
			t.Fatal(err)
		}
		s.Journal.Hear(journal.Answered{Call: sluice.Call{TraceID: c.ID, EventKey: c.EventKey, Time: c.Time,
			Status: sluice.StatusRejected, StatusCode: 401, Quarantine: c.ID}})
		return c.ID
	}
	refused, kept := refuse(`email=Eve@example.com`), refuse(`email=bob@example.com`)
	chosen := command.Args{{Name: "eventKey", Value: "webhook.erase"}, {Name: "search", Value: "EVE@example"}}
	for i, dry := range []bool{true, false} {
		out, err := call("event.erase", append(chosen[:2:2], command.Arg{Name: "dryRun", Value: dry}))
		if err != nil {
			t.Fatal(err)
		}
		if done := out.(sluice.Erased); len(done.Items) != 3 || done.Erased != 3*i || len(noted) != 3*i {
			t.Errorf("with dryRun %v it is %+v, and noted are %v", dry, done, noted)
		}
	}
	for id, erased := range map[string]bool{gone: true, stays: false} {
		calls, _, err := s.Journal.Calls(ctx, sluice.TraceQuery{TraceID: id, Limit: 10})
		if err != nil || len(calls) != 1 || calls[0].Erased != erased {
			t.Fatalf("the calls are %+v (%v)", calls, err)
		}
		if _, err := s.Journal.Event(ctx, calls[0].CorrelationID); sluice.CodeEventGone.Is(err) != erased {
			t.Errorf("the event of %s gives %v", id, err)
		}
	}
	left, _, err := s.Quarantine.List(ctx, sluice.QuarantineQuery{Limit: 10})
	if err != nil || len(left) != 1 || left[0].ID != kept || refused == kept {
		t.Errorf("in the quarantine are %+v (%v)", left, err)
	}
	for _, args := range []command.Args{chosen, {{Name: "traceId", Value: gone}}, {{Name: "traceId", Value: refused}}} {
		if out, err := call("event.erase", args); err != nil || out.(sluice.Erased).Erased != 0 || len(out.(sluice.Erased).Items) != 0 {
			t.Errorf("erasing again by %v gives %+v, %v", args, out, err)
		}
	}
	if _, err := call("event.erase", command.Args{{Name: "traceId", Value: "abcdef:mwlrmkhxo2cytwew"}}); !sluice.CodeEventUnknown.Is(err) {
		t.Errorf("an unknown call gives %v", err)
	}
	if _, err := call("event.replay", command.Args{{Name: "traceId", Value: gone}}); err == nil || !strings.Contains(err.Error(), "erased") {
		t.Errorf("replaying it gives %v", err)
	}
	if out, err := call("event.erase", command.Args{{Name: "eventKey", Value: "webhook.erase"}}); err != nil || out.(sluice.Erased).Erased != 2 {
		t.Errorf("erasing the rest by its key gives %+v, %v", out, err)
	}
	if left, _, err = s.Quarantine.List(ctx, sluice.QuarantineQuery{Limit: 10}); err != nil || len(left) != 0 {
		t.Errorf("in the quarantine are %+v (%v)", left, err)
	}
}

// TestEraseWhatWaits: an event that waits is erased if it has to be. All erasures are listed,
// page by page.
func TestEraseWhatWaits(t *testing.T) {
	t.Parallel()
	s := open(t)
	set := erasing(s, func(context.Context, sluice.AuditEntry) {})
	ctx := sluice.WithUser(t.Context(), sluice.User{Permissions: []string{"*"}})
	call := func(name string, args command.Args) (any, error) {
		cmd, _ := set.Find(name)
		return set.Call(ctx, cmd, args)
	}
	const calls = 5
	want := make(map[string]bool)
	for range calls {
		id := sluice.NewTraceID("abcdef", time.Now())
		want[id] = true
		s.Journal.Hear(journal.Answered{Call: sluice.Call{TraceID: id, EventKey: "webhook.waits", Time: time.Now(),
			Status: sluice.StatusProcessing}})
	}
	chosen := command.Args{{Name: "eventKey", Value: "webhook.waits"}}
	if out, err := call("event.erase", chosen); !sluice.CodeEventWaits.Is(err) {
		t.Errorf("what waits gives %+v (%v)", out, err)
	}
	out, err := call("event.erase", append(chosen, command.Arg{Name: "force", Value: true}))
	if err != nil || out.(sluice.Erased).Erased != calls {
		t.Fatalf("with force it is %+v (%v)", out, err)
	}
	after := ""
	for range calls {
		out, err := call("event.erasures", command.Args{{Name: "limit", Value: 1}, {Name: "after", Value: after}})
		page, ok := out.(command.Page[sluice.Erasure])
		if err != nil || !ok {
			t.Fatalf("a page is %+v (%v)", out, err)
		}
		list := page.Items
		if len(list) != 1 || !want[list[0].TraceID] {
			t.Fatalf("a page has %+v", list)
		}
		after = list[0].TraceID
		delete(want, after)
	}
	if len(want) != 0 {
		t.Errorf("not listed are %v", want)
	}
}

// TestEraseWhatCouldNotBeTaken: what a sender tried again goes with all tries, since each has its
// delivery id; the tries of another delivery stay.
func TestEraseWhatCouldNotBeTaken(t *testing.T) {
	t.Parallel()
	s := open(t)
	set := erasing(s, func(context.Context, sluice.AuditEntry) {})
	ctx := sluice.WithUser(t.Context(), sluice.User{Permissions: []string{"*"}})
	hear := func(status sluice.Status, deliveryID string, ago time.Duration) string {
		at := time.Now().Add(-ago)
		id := sluice.NewTraceID("abcdef", at)
		s.Journal.Hear(journal.Answered{Call: sluice.Call{TraceID: id, EventKey: "webhook.again", Time: at, Status: status, DeliveryID: deliveryID}})
		return id
	}
	before := hear(sluice.StatusRejected, "eve@example.com", time.Hour)
	taken := hear(sluice.StatusOK, "eve@example.com", 0)
	other := hear(sluice.StatusRejected, "bob@example.com", 0)
	erase, _ := set.Find("event.erase")
	out, err := set.Call(ctx, erase, command.Args{{Name: "traceId", Value: taken}})
	if err != nil || out.(sluice.Erased).Erased != 2 {
		t.Fatalf("erasing gives %+v (%v)", out, err)
	}
	for id, want := range map[string]string{before: "", taken: "", other: "bob@example.com"} {
		calls, _, err := s.Journal.Calls(ctx, sluice.TraceQuery{TraceID: id, Limit: 10})
		if err != nil || len(calls) != 1 || calls[0].DeliveryID != want || calls[0].Erased != (want == "") {
			t.Errorf("the calls are %+v (%v)", calls, err)
		}
	}
}

// TestEraseReplaysAfterAClockWasSetBack: replays go with their call, and replays of replays, though they look
// older than what they repeat.
func TestEraseReplaysAfterAClockWasSetBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	set := erasing(s, func(context.Context, sluice.AuditEntry) {})
	ctx := sluice.WithUser(t.Context(), sluice.User{Permissions: []string{"*"}})
	var ids []string
	for i := range 3 {
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		call := sluice.Call{TraceID: sluice.NewTraceID("abcdef", at), EventKey: "webhook.back", Time: at, Status: sluice.StatusOK}
		if i > 0 {
			call.ReplayOf = ids[i-1]
		}
		ids = append(ids, call.TraceID)
		s.Journal.Hear(journal.Answered{Call: call})
	}
	erase, _ := set.Find("event.erase")
	out, err := set.Call(ctx, erase, command.Args{{Name: "traceId", Value: ids[0]}})
	if err != nil || out.(sluice.Erased).Erased != len(ids) {
		t.Errorf("erasing gives %+v (%v)", out, err)
	}
}
