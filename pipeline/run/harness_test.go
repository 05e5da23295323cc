package run_test

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/value"
)

// TestMain checks that nothing is left running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is what runs need from outside.
type fixture struct {
	*pipelinetest.World

	set     command.Set
	limits  run.Limits
	reports chan sluice.RunReport
}

var listing = command.New("listing", "List nothing.",
	func(context.Context, pipelinetest.NoParams) (command.Page[string], error) {
		return command.Page[string]{}, nil
	}, command.Pure)

// swelling gives what is too large.
var swelling = command.New("swell", "Give too much.", func(_ context.Context, p swellParams) (any, error) {
	list, fields := make([]any, value.MaxItems+1), map[string]any{}
	for i := range list {
		fields[strconv.Itoa(i)] = nil
	}
	return map[string]any{"text": strings.Repeat("x", value.MaxSize), "list": list, "object": fields}[p.Input], nil
}, command.Pure)

type swellParams struct {
	Input string `json:"input" required:"true" doc:"What to give: a text, a list or an object."`
}

func newFixture(limits run.Limits) *fixture {
	world := &pipelinetest.World{}
	return &fixture{
		World:   world,
		set:     command.NewSet(func(context.Context, sluice.AuditEntry) {}, world.Commands(), []command.Command{listing, swelling}),
		limits:  limits,
		reports: make(chan sluice.RunReport, 1),
	}
}

// run runs a source as admin, who owns it.
func (f *fixture) run(t *testing.T, text string) (any, error) {
	t.Helper()
	program, err := source.Parse(text, f.set, pipelinetest.Language())
	if err != nil {
		return nil, err
	}
	admin := sluice.User{Name: "admin", Permissions: []string{"*"}}
	start := run.Start{
		Run:     &sluice.Run{TraceID: "direct:0123456789", Owner: func(context.Context) (sluice.User, error) { return admin, nil }},
		Request: map[string]any{"traceId": "direct:0123456789", "attempt": 1},
		Attempt: 1,
	}
	start.Run.Switch(admin)
	out, err := run.Run(t.Context(), run.Environment{
		Limits: f.limits,
		Call:   f.set.Call,
		Secret: func(_ context.Context, name string) (string, error) { return pipelinetest.Secrets()[name], nil },
		Pause: func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Log: slog.New(slog.DiscardHandler),
	}, program, start)
	f.reports <- *out.Report
	return out.Body, err
}
