// Package pipelinetest has what the tests of pipelines share: a small set of
// commands, and past events to try drafts on.
package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/wait"
)

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

type listenParams struct {
	keyParams

	Type  []string `json:"type" doc:"The kinds to listen to."`
	Where string   `json:"where" doc:"Which events start it."`
}

type messageParams struct {
	Key   string `json:"key" required:"true" doc:"The key to listen to."`
	Where string `json:"where" doc:"Which messages start it."`
}

// NoParams are the parameters of commands that have none.
type NoParams struct{}

// A World is what the steps of the tests do to the outside.
type World struct {
	mu     sync.Mutex
	Logged []string
}

func (w *World) log(message any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Logged = append(w.Logged, fmt.Sprint(message))
}

// Commands returns small stand-ins for the commands of other packages.
func (w *World) Commands() []command.Command {
	return []command.Command{
		command.New("set", "Give a value.", func(_ context.Context, p valueParams) (any, error) { return p.Value, nil },
			command.Pure),
		command.New("pass", "Pass the body on.",
			func(_ context.Context, p passParams) (any, error) { return p.Body, nil }, command.Pure),
		command.New("log", "Log something.", func(_ context.Context, p logParams) (any, error) {
			w.log(p.Message)
			return p.Body, nil
		}, command.Pure),
		command.New("convert.upper", "Give a text in capitals.",
			func(_ context.Context, p inputParams) (any, error) { return strings.ToUpper(p.Input), nil }, command.Pure),
		command.New("convert.fromSwelling", "Decode a text that takes more memory then.",
			func(context.Context, inputParams) (any, error) { panic("it was decoded") }, command.Pure),
		command.New("fail", "Fail.", func(_ context.Context, p failParams) (any, error) {
			return nil, sluice.CodeFailed.Errorf("%s", p.Message).OfKind(sluice.Internal).
				WithStatus(p.StatusCode)
		}, command.Pure),
		command.New("exit", "End the run.", func(ctx context.Context, p exitParams) (any, error) {
			sluice.RunFrom(ctx).Exited = true
			return p.Value, nil
		}, command.Pure),
		command.New("wait", "Wait.", func(ctx context.Context, p waitParams) (any, error) {
			return p.Body, wait.For(ctx, p.Duration)
		}, command.Pure),
		command.New("http.request", "Call a URL.", func(ctx context.Context, p requestParams) (response, error) {
			sluice.RunFrom(ctx).NoteHTTP(sluice.Exchange{
				Method: "POST", URL: p.URL, StatusCode: 200,
				Request: fmt.Sprint(p.Headers["authorization"], "\n\n", p.Body), Response: fmt.Sprint(p.Body),
			})
			return response{200, p.Body, p.URL}, nil
		}, command.Traffic),
		command.New("iam.run.as", "Switch the user.", func(ctx context.Context, p asParams) (any, error) {
			sluice.RunFrom(ctx).Switch(sluice.User{
				Name: p.Username, Roles: []string{"some"}, Permissions: []string{"*"},
			})
			return p.Body, nil
		}),
		command.New("whoami", "Tell who runs this.",
			func(ctx context.Context, _ NoParams) (any, error) { return sluice.UserFrom(ctx).Name, nil }, command.Pure),
		command.New("panics", "Panic.", func(context.Context, NoParams) (any, error) { panic("s3cret") }, command.Pure),
		command.New("broken", "Fail with an error of no kind.",
			func(context.Context, NoParams) (any, error) { return nil, errors.New("inner s3cret") }),
		command.New("slow", "Take a second.", func(context.Context, NoParams) (any, error) {
			time.Sleep(time.Second) // of the clock of a test
			return nil, nil
		}, command.Pure),
		command.New("event.listen", "Start on events.",
			func(context.Context, listenParams) (any, error) { return nil, errors.New("never called") },
			command.Trigger),
		command.New("message.receive", "Start on messages.",
			func(context.Context, messageParams) (any, error) { return nil, errors.New("never called") },
			command.Trigger),
		command.New("event.send", "Send an event.", func(context.Context, keyParams) (any, error) { return nil, nil },
			command.Traffic),
	}
}

// Secrets returns the secrets of the World.
func Secrets() map[string]string {
	return map[string]string{
		"key": "s3cret", "quoted": `a"b\c d`, "short": "abc", "number": "4711", "longer": "s3cret and more",
	}
}

// Language returns the language of expressions, with functions of the World.
func Language() *expression.Language {
	return expression.NewLanguage(map[string]expression.Function{
		"convert.upper":        func(args ...any) (any, error) { return strings.ToUpper(args[0].(string)), nil },
		"convert.fromSwelling": func(...any) (any, error) { panic("it was decoded") },
	})
}

// A Past is a journal of events that no pipeline has run on, newest first.
type Past struct {
	sluice.Journal // nil: the tests call nothing else

	Events int // how many
	Read   int // how many were asked for
}

// Calls implements [sluice.Journal].
func (p *Past) Calls(_ context.Context, q sluice.TraceQuery) (calls []sluice.Call, next string, err error) {
	at, _ := strconv.Atoi(q.Before)
	for ; at < p.Events && len(calls) < q.Limit; at++ {
		id := strconv.Itoa(at)
		calls = append(calls, sluice.Call{
			TraceID: "abcdef:" + id, CorrelationID: id, EventKey: q.EventKey, Status: sluice.StatusOK,
		})
		if at%10 == 5 { // these have no event
			calls[len(calls)-1].CorrelationID = ""
		}
		if at%10 == 6 {
			calls[len(calls)-1].ReplayOf = "abcdef:0"
		}
	}
	if at < p.Events {
		next = strconv.Itoa(at)
	}
	return calls, next, nil
}

// Reached implements [sluice.Journal].
func (p *Past) Reached(context.Context, string) (time.Time, error) { return time.Time{}, nil }

// Event implements [sluice.Journal].
func (p *Past) Event(_ context.Context, correlationID string) (sluice.Event, error) {
	p.Read++
	if correlationID == "7" {
		return sluice.Event{}, sluice.CodeEventGone.Errorf("It is gone.")
	}
	return sluice.Event{EventKey: "webhook.a", TraceID: "abcdef:" + correlationID, Payload: []byte(correlationID)}, nil
}

// Refused checks the code of an error and that its message says something.
func Refused(t *testing.T, err error, code, says string) *sluice.Error {
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

// Golden compares a text with a file, which UPDATE_GOLDEN=1 writes anew.
func Golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", file, got)
	}
}
