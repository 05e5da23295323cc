package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline"
)

// TestMain checks that nothing is left running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Commands as the rooms beside have them, as small as they can be.

type valueParams struct {
	Value any `json:"value" required:"true" doc:"The value."`
}

type passParams struct {
	Body any `json:"body" body:"default" doc:"Passed on."`
}

type logParams struct {
	Message any `json:"message" doc:"What to log."`
	Body    any `json:"body" body:"default" doc:"Passed on."`
}

type inputParams struct {
	Input string `json:"input" body:"default" required:"true" doc:"The text."`
}

type failParams struct {
	Message    string `json:"message" required:"true" doc:"What the error says."`
	StatusCode int    `json:"statusCode" min:"400" max:"599" doc:"Its status."`
}

type exitParams struct {
	Value any `json:"value" body:"default" doc:"What the pipeline answers."`
}

type waitParams struct {
	Duration time.Duration `json:"duration" required:"true" doc:"How long."`
	Body     any           `json:"body" body:"default" doc:"Passed on."`
}

type requestParams struct {
	URL     string         `json:"url" required:"true" doc:"What to call."`
	Method  string         `json:"method" enum:"GET,POST" doc:"How."`
	Headers map[string]any `json:"headers" doc:"Headers to send."`
	Tags    []string       `json:"tags" doc:"Words."`
	Body    any            `json:"body" doc:"What to send."`
}

type response struct {
	StatusCode int    `json:"statusCode"`
	Body       any    `json:"body"`
	URL        string `json:"url"`
}

type asParams struct {
	Username string `json:"username" required:"true" doc:"Who."`
	Body     any    `json:"body" body:"default" doc:"Passed on."`
}

type keyParams struct {
	EventKey string `json:"eventKey" alias:"key" required:"true" doc:"The key to listen to."`
}

type messageParams struct {
	Key string `json:"key" required:"true" doc:"The key to listen to."`
}

type noParams struct{}

// world is what the steps of the tests do to the outside.
type world struct {
	mu         sync.Mutex
	logged     []string
	failures   int           // how often unsteady still fails
	retryAfter time.Duration // that unsteady asks for
	calls      int           // of unsteady
	started    chan struct{} // is sent to when hang hangs
}

func (w *world) log(message any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logged = append(w.logged, fmt.Sprint(message))
}

func (w *world) commands() []command.Command {
	return []command.Command{
		command.New("set", "Give a value.", func(_ context.Context, p valueParams) (any, error) { return p.Value, nil }, command.Pure),
		command.New("pass", "Pass the body on.", func(_ context.Context, p passParams) (any, error) { return p.Body, nil }, command.Pure),
		command.New("log", "Log something.", func(_ context.Context, p logParams) (any, error) {
			w.log(p.Message)
			return p.Body, nil
		}, command.Pure),
		command.New("convert.upper", "Give a text in capitals.", func(_ context.Context, p inputParams) (any, error) { return strings.ToUpper(p.Input), nil }, command.Pure),
		command.New("convert.fromSwelling", "Decode a text that takes more memory then.", func(context.Context, inputParams) (any, error) { panic("it was decoded") }, command.Pure),
		command.New("fail", "Fail.", func(_ context.Context, p failParams) (any, error) {
			return nil, sluice.Errorf(sluice.CodeFailed, "%s", p.Message).OfKind(sluice.Internal).WithStatus(p.StatusCode)
		}, command.Pure),
		command.New("exit", "End the run.", func(ctx context.Context, p exitParams) (any, error) {
			sluice.RunFrom(ctx).Exit()
			return p.Value, nil
		}, command.Pure),
		command.New("wait", "Wait.", func(ctx context.Context, p waitParams) (any, error) {
			select {
			case <-time.After(p.Duration):
				return p.Body, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, command.Pure),
		command.New("http.request", "Call a URL.", func(ctx context.Context, p requestParams) (response, error) {
			sluice.RunFrom(ctx).NoteHTTP(sluice.Exchange{Method: "POST", URL: p.URL, StatusCode: 200, Request: fmt.Sprint(p.Headers["authorization"], "\n\n", p.Body), Response: fmt.Sprint(p.Body)})
			return response{200, p.Body, p.URL}, nil
		}, command.Traffic),
		command.New("iam.run.as", "Switch the user.", func(ctx context.Context, p asParams) (any, error) {
			sluice.RunFrom(ctx).Switch(sluice.User{Name: p.Username, Roles: []string{"some"}, Permissions: []string{"*"}})
			return p.Body, nil
		}),
		command.New("whoami", "Tell who runs this.", func(ctx context.Context, _ noParams) (any, error) { return sluice.UserFrom(ctx).Name, nil }, command.Pure),
		command.New("panics", "Panic.", func(context.Context, noParams) (any, error) { panic("s3cret") }, command.Pure),
		command.New("broken", "Fail with an error of no kind.", func(context.Context, noParams) (any, error) { return nil, errors.New("inner s3cret") }),
		command.New("unsteady", "Fail some times.", func(context.Context, noParams) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.calls++
			if w.failures > 0 {
				w.failures--
				return nil, sluice.Errorf(sluice.Code{Word: "unsteady", Kind: sluice.Unavailable}, "Not now.").After(w.retryAfter)
			}
			return "steady", nil
		}),
		command.New("slow", "Take a second.", func(context.Context, noParams) (any, error) {
			time.Sleep(time.Second) // of the clock of a test
			return nil, nil
		}, command.Pure),
		command.New("hang", "Wait for the end.", func(ctx context.Context, _ noParams) (any, error) {
			if w.started != nil {
				w.started <- struct{}{}
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		command.New("event.listen", "Start on events.", func(context.Context, keyParams) (any, error) { return nil, errors.New("never called") }, command.Trigger),
		command.New("message.receive", "Start on messages.", func(context.Context, messageParams) (any, error) { return nil, errors.New("never called") }, command.Trigger),
		command.New("event.send", "Send an event.", func(context.Context, keyParams) (any, error) { return nil, nil }, command.Traffic),
		command.NewEndpoint[noParams]("webhook.receive", "Call a webhook.", func(http.ResponseWriter, *http.Request) error { return nil }),
	}
}

// fixture is a runner with all it needs, in memory.
type fixture struct {
	*pipeline.Runner
	*world

	set     command.Set
	store   *store
	queue   *queue
	history *history
	letters *letters
	reports chan sluice.RunReport
}

func language() *expression.Language {
	return expression.NewLanguage(map[string]expression.Function{
		"convert.upper":        func(args ...any) (any, error) { return strings.ToUpper(args[0].(string)), nil },
		"convert.fromSwelling": func(...any) (any, error) { panic("it was decoded") },
	})
}

func newFixture(options ...func(*pipeline.RunnerOptions)) *fixture {
	f := &fixture{world: &world{}, store: newStore(), reports: make(chan sluice.RunReport, 1000)}
	f.queue = newQueue()
	f.history = &history{records: map[string]*sluice.PipelineHistory{}}
	f.letters = &letters{}
	r := pipeline.RunnerOptions{
		Commands: func() command.Set { return f.set },
		Language: language(),
		Store:    f.store,
		History:  f.history,
		Queue:    f.queue,
		Events:   f.letters,
		Letters:  f.letters,
		User: func(_ context.Context, username string) (sluice.User, error) {
			switch username {
			case "nobody":
				return sluice.User{}, sluice.Errorf(sluice.CodeUserUnknown, "There is no such user.").OfKind(sluice.Unauthenticated)
			case "poor":
				return sluice.User{Name: username, Permissions: []string{"set", "pass"}}, nil
			}
			return sluice.User{Name: username, Permissions: []string{"*"}}, nil
		},
		Secret: func(_ context.Context, name string) (string, error) {
			return map[string]string{"key": "s3cret", "quoted": `a"b\c d`, "short": "abc", "number": "4711", "longer": "s3cret and more"}[name], nil
		},
		Note:    func(context.Context, sluice.AuditEntry) {},
		Seen:    func(context.Context, string, string) {},
		Observe: func(report sluice.RunReport) { f.reports <- report },
		Grace:   func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), 0) },
		Log:     slog.New(slog.DiscardHandler),
	}
	r.Owner = func(ctx context.Context, p *sluice.Pipeline) (sluice.User, error) { return r.User(ctx, p.Owner) }
	for _, option := range options {
		option(&r)
	}
	f.Runner = pipeline.NewRunner(r)
	f.set = command.NewSet(func(context.Context, sluice.AuditEntry) {}, f.commands(), pipeline.Commands(f.Runner))
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

// refused checks the code of an error and that its message says something.
func refused(t *testing.T, err error, code, says string) *sluice.Error {
	t.Helper()
	if err == nil {
		t.Fatal("it was accepted")
	}
	e := sluice.AsError(err)
	if e.Code != code || !strings.Contains(e.Message, says) {
		t.Fatalf("the error is %s: %s; want %s: …%s…", e.Code, e.Message, code, says)
	}
	return e
}
