package api

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/problem"
)

// command calls the command that the path names.
func (a *API) command(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.Path
	if strings.HasPrefix(path, sluice.HookPath) {
		path = sluice.ReceivePath
	}
	name := strings.TrimPrefix(path, sluice.CommandPath)
	cmd, known := a.Commands.Find(name)
	if known && cmd.Endpoint != nil {
		return cmd.Endpoint(w, r)
	}
	if known && cmd.Told != nil && r.Header.Get("Authorization") == "" {
		return a.answer(w, r, nil, cmd.Told)
	}
	user, leave, err := a.enter(w, r)
	if err != nil {
		return err
	}
	defer leave()
	if !known {
		return a.unknownCommand(name)
	}
	switch {
	case cmd.ReadOnly && r.Method != http.MethodPost && r.Method != http.MethodGet:
		return notAllowed("GET, POST")
	case !cmd.ReadOnly && r.Method != http.MethodPost:
		return notAllowed("POST")
	}
	memory := a.Bodies.Known.Hold()
	defer memory.Release()
	args, err := a.arguments(w, r, cmd, &memory)
	if err != nil {
		return err
	}
	return a.callAndAnswer(w, r, user, cmd, args, &memory)
}

// callAndAnswer runs a command and writes what it returns. The memory is that of its arguments.
func (a *API) callAndAnswer(
	w http.ResponseWriter, r *http.Request, user sluice.User, cmd command.Command, args command.Args,
	memory *limit.Hold,
) error {
	made, err := a.beginList(r.Context(), cmd)
	if err != nil {
		return err
	}
	defer made()
	out, err := a.call(r, user, cmd, args)
	if err != nil {
		return err
	}
	memory.Release() // the arguments have done their work
	if d, ok := out.(command.Download); ok {
		return a.download(w, r, d)
	}
	answer := a.Bodies.Answers.Hold()
	defer answer.Release()
	content, err := encode(w, r, args, out, &answer)
	if err != nil {
		return err
	}
	made()
	send(w, content)
	return nil
}

// beginList waits until a list may be made, if the command makes one: the whole of it is in memory
// before its length is known, so that only a few are made at the same time.
func (a *API) beginList(ctx context.Context, cmd command.Command) (made func(), err error) {
	if !cmd.Listing {
		return func() {}, nil
	}
	select {
	case a.lists <- struct{}{}:
		return sync.OnceFunc(func() { <-a.lists }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enter finds out which user calls, and counts the call until leave is called: one user
// must not take all the slots.
func (a *API) enter(w http.ResponseWriter, r *http.Request) (user sluice.User, leave func(), err error) {
	if user, err = a.Authenticate(w, r); err != nil {
		return sluice.User{}, nil, err
	}
	if !a.Users.Enter(user.Name) {
		return sluice.User{}, nil, tooMany(sluice.CodeTooManyCalls, "You have as many calls in flight as one user may.")
	}
	return user, func() { a.Users.Leave(user.Name) }, nil
}

// tooMany refuses a user who has taken their share.
func tooMany(code sluice.Code, message string) error {
	return code.Errorf("%s Try again when some have ended.", message).After(time.Second)
}

// call runs a command for a user, until it is done, the caller has gone, or
// Interrupt is called.
func (a *API) call(r *http.Request, user sluice.User, cmd command.Command, args command.Args) (out any, err error) {
	if err := a.Slots.Enter(); err != nil {
		return nil, err
	}
	defer a.Slots.Leave()
	ctx, leave := a.interruptible(r.Context())
	defer leave()
	user.Address = r.RemoteAddr
	ctx = sluice.WithRequest(sluice.WithUser(ctx, user), sluice.Request{
		Method: r.Method, RawQuery: r.URL.RawQuery, Header: r.Header, RemoteAddr: r.RemoteAddr,
	})
	span := sluice.Span{
		Name: cmd.Name, Kind: sluice.ServerSpan, Traceparent: r.Header.Get("Traceparent"),
		SpanFacts: sluice.SpanFacts{Method: r.Method, Path: r.URL.Path, Secure: r.TLS != nil, User: user.Name},
	}
	err = a.Spans.Do(ctx, span, func(ctx context.Context) error {
		if a.Spans.Tracer != nil {
			*r = *r.WithContext(ctx) // so that log lines of the request belong to the span
		}
		out, err = a.Commands.Call(ctx, cmd, args)
		status := http.StatusOK
		if err != nil {
			status = problem.Status(err)
		}
		a.Spans.Add(ctx, sluice.SpanFacts{StatusCode: status})
		return err
	})
	return out, err
}

func (a *API) unknownCommand(name string) error {
	hint := sluice.OpenAPIPath + " lists those there are."
	if near := a.Commands.Nearest(name); near != "" {
		hint = "did you mean " + near + "?"
	}
	return sluice.CodeCommandUnknown.Errorf("There is no such command; %s", hint)
}
