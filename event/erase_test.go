package event_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/event"
)

// TestErase: a call that is chosen by what is in its payload goes with its replays, and the
// audit log names them, but not the text.
func TestErase(t *testing.T) {
	t.Parallel()
	s := open(t)
	var noted []string
	set := command.NewSet(func(context.Context, sluice.AuditEntry) {}, event.Commands(event.Options{
		Events: s, Stored: s.Stored, Journal: s.Journal, Waiting: s.Queue, Namespace: "default", Erasures: s.Erasures,
		Note: func(_ context.Context, e sluice.AuditEntry) { noted = append(noted, e.Target) },
	}))
	ctx := sluice.WithUser(t.Context(), sluice.User{Permissions: []string{"*"}})
	call := func(name string, args command.Args) (any, error) {
		cmd, _ := set.Find(name)
		return set.Call(ctx, cmd, args)
	}
	accept := func(payload string) string {
		e := &sluice.Event{EventKey: "webhook.erase", Namespace: "default", TraceID: sluice.NewTraceID("abcdef", time.Now()), ReceivedAt: time.Now(), Payload: json.RawMessage(payload), PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingJSON, Method: "POST"}
		result, err := s.Accept(ctx, e, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Journal.Call(sluice.Call{TraceID: e.TraceID, CorrelationID: result.CorrelationID, EventKey: e.EventKey, Time: e.ReceivedAt, Status: sluice.StatusOK})
		return e.TraceID
	}
	gone, stays := accept(`{"email":"eve@example.com"}`), accept(`{"email":"bob@example.com"}`)
	if _, err := call("event.replay", command.Args{{Name: "traceId", Value: gone}}); err != nil {
		t.Fatal(err)
	}
	chosen := command.Args{{Name: "eventKey", Value: "webhook.erase"}, {Name: "search", Value: "EVE@example"}}
	for i, dry := range []bool{true, false} {
		out, err := call("event.erase", append(chosen[:2:2], command.Arg{Name: "dryRun", Value: dry}))
		if err != nil {
			t.Fatal(err)
		}
		if done := out.(sluice.Erased); len(done.Items) != 2 || done.Erased != 2*i || len(noted) != 2*i {
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
	if _, err := call("event.erase", chosen); !sluice.CodeEventUnknown.Is(err) {
		t.Errorf("erasing again gives %v", err)
	}
}
