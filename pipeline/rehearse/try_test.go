package rehearse_test

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/rehearse"
	"sluice/pipeline/source"
)

const listening = "pipeline:\n- event.listen: {eventKey: webhook.a}\n"

func commands() command.Set {
	return command.NewSet(func(context.Context, sluice.AuditEntry) {}, new(pipelinetest.World).Commands())
}

// newStage returns a stage with so many past events.
func newStage(events int) rehearse.Stage {
	stage := rehearse.Stage{
		Commands: commands,
		Journal:  &pipelinetest.Past{Events: events},
		User: func(_ context.Context, username string) (sluice.User, error) {
			return sluice.User{Name: username, Permissions: []string{"*"}}, nil
		},
		Log: slog.New(slog.DiscardHandler),
	}
	return stage
}

// try tries a draft.
func try(t *testing.T, stage rehearse.Stage, text string, limit int, after string) (sluice.TryResult, error) {
	t.Helper()
	program, err := source.Parse(text, commands(), pipelinetest.Language())
	if err != nil {
		t.Fatal(err)
	}
	owner := sluice.User{Name: "admin", Permissions: []string{"*"}}
	return stage.Try(t.Context(), rehearse.Draft{Program: program, Owner: owner}, sluice.TraceQuery{EventKey: "webhook.a", Limit: limit, Before: after})
}

// TestTryCounts: events are counted, and not what made none, was there before, or
// is gone.
func TestTryCounts(t *testing.T) {
	stage := newStage(2000)
	found, err := try(t, stage, listening+"- if: {true: '#{body.payload < 5}', then: [fail: {message: small}]}", 1000, "")
	if err != nil || found.Tried() != 1000 || found.Fails != 5 || found.Differs != 995 || len(found.Items) != 20 || found.Next == "" {
		t.Fatalf("it found %d, %d, %v", found.Tried(), found.Fails, err)
	}
	for i, item := range found.Items[:5] {
		if item.Verdict != sluice.TryFails || item.Was != nil || item.WouldBe.Code != "failed" || item.TraceID != "abcdef:"+strconv.Itoa(i) {
			t.Errorf("item %d is %+v", i, item)
		}
	}
	rest, err := try(t, stage, listening+"- pass", 1000, found.Next)
	if err != nil || found.Tried()+rest.Tried() != 2000-400-1 || rest.Next != "" {
		t.Errorf("the rest is %d, %v", rest.Tried(), err)
	}
}

// TestTryTakesItsTime: a call ends after a while, and says where to go on; nothing
// is waited for in it.
func TestTryTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stage := newStage(1000)
		begun := time.Now()
		found, err := try(t, stage, listening+"- slow\n- wait: {duration: 1h}", 1000, "")
		took := time.Since(begun)
		if err != nil || found.Tried() < 8 || found.Tried() > 20 || found.Next == "" || took > 20*time.Second {
			t.Errorf("it found %d in %s, %v", found.Tried(), took, err)
		}
	})
}
