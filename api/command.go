package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/command"
)

// command calls the command that the path names.
func (a *API) command(w http.ResponseWriter, r *http.Request) error {
	if err := a.refuseDraining(); err != nil {
		return a.refused(r, err)
	}
	name := strings.TrimPrefix(r.URL.Path, sluice.CommandPath)
	cmd, known := a.Commands.Find(name)
	if known && cmd.Endpoint != nil {
		return cmd.Endpoint(w, r)
	}
	user, err := a.Authenticate(w, r)
	if err != nil {
		return err
	}
	if !known {
		return a.unknownCommand(name)
	}
	if allow := methodsOf(cmd); r.Method != http.MethodPost && (r.Method != http.MethodGet || !cmd.ReadOnly) {
		return notAllowed(allow)
	}
	args, err := a.arguments(w, r, cmd)
	if err != nil {
		return err
	}
	out, err := a.call(r, user, cmd, args)
	if err != nil {
		return err
	}
	return answer(w, r, args, out)
}

// refuseDraining refuses calls while the server stops.
func (a *API) refuseDraining() error {
	if !a.draining() {
		return nil
	}
	return stopping()
}

// draining tells whether the server stops.
func (a *API) draining() bool {
	select {
	case <-a.Stopping:
		return true
	default:
		return false
	}
}

// refused tells the command that a request is for of its refusal, if it wants
// to know.
func (a *API) refused(r *http.Request, err error) error {
	if name, ok := strings.CutPrefix(r.URL.Path, sluice.CommandPath); ok {
		if cmd, known := a.Commands.Find(name); known && cmd.Refused != nil {
			cmd.Refused(r, err)
		}
	}
	return err
}

func stopping() error {
	return busy("draining", "The server is stopping.").Closing()
}

// Interrupt ends the commands that are running: those that can end early tell
// their callers that the server stops.
func (a *API) Interrupt() { a.interrupt(stopping()) }

// call runs a command for a user, until it is done, the caller has gone, or
// Interrupt is called.
func (a *API) call(r *http.Request, user sluice.User, cmd command.Command, args command.Args) (out any, err error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(a.interrupted, func() { cancel(context.Cause(a.interrupted)) })
	defer stop()
	user.Address = r.RemoteAddr
	ctx = sluice.WithRequest(sluice.WithUser(ctx, user), requestOf(r))
	span := sluice.Span{Name: cmd.Name, Traceparent: r.Header.Get("Traceparent"), Attribute: "enduser.id", Value: user.Name}
	err = a.Spans.Do(ctx, span, func(ctx context.Context) error {
		out, err = a.Commands.Call(ctx, cmd, args)
		return err
	})
	return out, err
}

func requestOf(r *http.Request) sluice.Request {
	return sluice.Request{Method: r.Method, RawQuery: r.URL.RawQuery, Header: r.Header, RemoteAddr: r.RemoteAddr}
}

func methodsOf(cmd command.Command) string {
	if cmd.ReadOnly {
		return "GET, POST"
	}
	return "POST"
}

func (a *API) unknownCommand(name string) error {
	hint := sluice.OpenAPIPath + " lists those there are."
	if near := a.Commands.Nearest(name); near != "" {
		hint = "did you mean " + near + "?"
	}
	return sluice.Errorf(sluice.NotFound, "command-unknown", "There is no such command; %s", hint)
}

// answer writes what a command returned.
func answer(w http.ResponseWriter, r *http.Request, args command.Args, out any) error {
	if page, ok := out.(command.Paged); ok {
		items, next := page.Page()
		if next != "" {
			query := url.Values{} // wherever the arguments came from
			for _, arg := range args {
				query.Set(arg.Name, fmt.Sprint(arg.Value))
			}
			query.Set("after", next)
			w.Header().Set("Link", "<"+r.URL.Path+"?"+query.Encode()+`>; rel="next"`)
		}
		out = items
	}
	var content bytes.Buffer
	if err := encodeJSON(&content, out); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content.Bytes()) // an error means that the caller has gone
	return nil
}
