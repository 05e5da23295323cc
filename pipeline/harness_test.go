package pipeline_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice"
	"sluice/command"
	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
)

// TestMain checks that nothing is left running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a runner with all it needs, in memory.
type fixture struct {
	*pipeline.Runner
	*pipelinetest.World
	*troubles

	set     command.Set
	store   *store
	queue   *queue
	history *history
	ticks   *tickings
	letters *letters
	reports chan sluice.RunReport
}

// troubles are commands that fail or hang.
type troubles struct {
	mu         sync.Mutex
	Failures   int           // how often unsteady still fails
	RetryAfter time.Duration // that unsteady asks for
	Started    chan struct{} // is sent to when hang hangs
}

func (t *troubles) commands() []command.Command {
	return []command.Command{
		command.New("unsteady", "Fail some times.", func(context.Context, pipelinetest.NoParams) (any, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.Failures > 0 {
				t.Failures--
				return nil, sluice.Code("unsteady").Errorf("Not now.").OfKind(sluice.Unavailable).After(t.RetryAfter)
			}
			return "steady", nil
		}),
		command.New("hang", "Wait for the end.", func(ctx context.Context, _ pipelinetest.NoParams) (any, error) {
			if t.Started != nil {
				t.Started <- struct{}{}
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}
}

func newFixture(options ...func(*pipeline.RunnerOptions)) *fixture {
	f := &fixture{World: &pipelinetest.World{}, troubles: &troubles{}, store: newStore(), reports: make(chan sluice.RunReport, 1000)}
	f.queue = newQueue()
	f.history = &history{records: map[string]*sluice.PipelineHistory{}}
	f.ticks = &tickings{records: map[string]*sluice.Ticking{}}
	f.letters = &letters{}
	r := pipeline.RunnerOptions{
		Commands: func() command.Set { return f.set },
		Language: pipelinetest.Language(),
		Store:    f.store,
		History:  f.history,
		Tickings: f.ticks,
		Queue:    f.queue,
		Events:   f.letters,
		Letters:  f.letters,
		User: func(_ context.Context, username string) (sluice.User, error) {
			switch username {
			case "nobody":
				return sluice.User{}, sluice.CodeUserUnknown.Errorf("There is no such user.").OfKind(sluice.Unauthenticated)
			case "poor":
				return sluice.User{Name: username, Permissions: []string{"set", "pass"}}, nil
			}
			return sluice.User{Name: username, Permissions: []string{"*"}}, nil
		},
		Secret: func(_ context.Context, name string) (string, error) {
			return pipelinetest.Secrets()[name], nil
		},
		Note:    func(context.Context, sluice.AuditEntry) {},
		Seen:    func(context.Context, string, string) {},
		Observe: func(report sluice.RunReport) { f.reports <- report },
		Passed:  func(string) {},
		Grace:   func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), 0) },
		Log:     slog.New(slog.DiscardHandler),
	}
	r.Owner = func(ctx context.Context, p *sluice.Pipeline) (sluice.User, error) { return r.User(ctx, p.Owner) }
	for _, option := range options {
		option(&r)
	}
	r.UseSecret = r.Secret
	f.Runner = pipeline.NewRunner(r)
	f.set = command.NewSet(func(context.Context, sluice.AuditEntry) {}, f.Commands(), f.commands(), pipeline.Commands(f.Runner))
	return f
}

// call calls a command as admin.
func (f *fixture) call(ctx context.Context, name string, args ...command.Arg) (any, error) {
	return f.callAs(ctx, "admin", name, args...)
}

func (f *fixture) callAs(ctx context.Context, username, name string, args ...command.Arg) (any, error) {
	cmd, ok := f.set.Find(name)
	if !ok {
		panic(name)
	}
	user, err := f.User(ctx, username)
	if err != nil {
		return nil, err
	}
	return f.set.Call(sluice.WithUser(ctx, user), cmd, args)
}

func arg(name string, value any) command.Arg { return command.Arg{Name: name, Value: value} }

// run runs a source that is not stored.
func (f *fixture) run(t *testing.T, source string) (any, error) {
	t.Helper()
	return f.call(t.Context(), "pipeline.run", arg("source", source))
}

// put stores a pipeline.
func (f *fixture) put(t *testing.T, name, source string) {
	t.Helper()
	if _, err := f.call(t.Context(), "pipeline.put", arg("name", name), arg("source", source)); err != nil {
		t.Fatal(err)
	}
}
