package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/problem"
	"sluice/value"
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
	out, err := a.call(r, user, cmd, args)
	if err != nil {
		return err
	}
	memory.Release() // the arguments have done their work
	if d, ok := out.(command.Download); ok {
		return a.download(w, r, d)
	}
	return a.answer(w, r, args, out)
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
	return sluice.Errorf(code, "%s Try again when some have ended.", message).After(time.Second)
}

// call runs a command for a user, until it is done, the caller has gone, or
// Interrupt is called.
func (a *API) call(r *http.Request, user sluice.User, cmd command.Command, args command.Args) (out any, err error) {
	if err := a.Slots.Enter(); err != nil {
		return nil, err
	}
	defer a.Slots.Leave()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(a.interrupted, func() { cancel(context.Cause(a.interrupted)) })
	defer stop()
	user.Address = r.RemoteAddr
	ctx = sluice.WithRequest(sluice.WithUser(ctx, user), sluice.Request{Method: r.Method, RawQuery: r.URL.RawQuery, Header: r.Header, RemoteAddr: r.RemoteAddr})
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
	return sluice.Errorf(sluice.CodeCommandUnknown, "There is no such command; %s", hint)
}

// answer writes what a command returned. A large answer takes memory until the
// caller has read it.
func (a *API) answer(w http.ResponseWriter, r *http.Request, args command.Args, out any) error {
	if page, ok := out.(command.Paged); ok {
		items, next := page.Page()
		if next != "" {
			query := url.Values{} // wherever the arguments came from
			for _, arg := range args {
				if arg.Value != nil {
					query.Set(arg.Name, textOf(arg.Value))
				}
			}
			query.Set("after", next)
			w.Header().Set("Link", "<"+r.URL.Path+"?"+query.Encode()+`>; rel="next"`)
		}
		out = items
	}
	var content bytes.Buffer
	if err := value.Encode(&content, out); err != nil {
		return err
	}
	memory := a.Bodies.Answers.Hold()
	defer memory.Release()
	if err := memory.Try(2 * int64(content.Len())); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content.Bytes()) // an error means that the caller has gone
	return nil
}

// textOf returns an argument as text for a query: a list separated by commas, an object
// as JSON.
func textOf(given any) string {
	switch v := given.(type) {
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = textOf(item)
		}
		return strings.Join(items, ",")
	case map[string]any:
		object, _ := value.Marshal(v) // it came as JSON
		return string(object)
	}
	return fmt.Sprint(given)
}

// download sends bytes as they are made, until the caller goes or the server stops.
func (a *API) download(w http.ResponseWriter, r *http.Request, d command.Download) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(a.interrupted, func() { cancel(context.Cause(a.interrupted)) })
	defer stop()
	// A download may take longer than reading a request.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", d.ContentType)
	to := &started{ResponseWriter: w}
	err := d.Send(ctx, to)
	switch {
	case err == nil:
		return nil
	case !to.begun:
		w.Header().Del("Content-Type")
		return err
	}
	if ctx.Err() == nil {
		a.Log.Error("A download ended early.", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// started knows whether an answer has begun.
type started struct {
	http.ResponseWriter

	begun bool
}

// Write implements http.ResponseWriter.
func (s *started) Write(p []byte) (int, error) {
	s.begun = true
	return s.ResponseWriter.Write(p)
}

// A document is the output of a command that can also be read as plain text.
type document interface {
	// Document returns the text and its media type.
	Document() (mediaType, text string)
}

// tagged is the output of a command that has versions.
type tagged interface {
	// EntityTag names this version, without quotes.
	EntityTag() string
}

// pipeline serves the pipelines as a folder of documents: each method is a
// command.
func (a *API) pipeline(w http.ResponseWriter, r *http.Request) error {
	user, leave, err := a.enter(w, r)
	if err != nil {
		return err
	}
	defer leave()
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, sluice.PipelinePath), "/")
	memory := a.Bodies.Known.Hold()
	defer memory.Release()
	cmd, args, err := a.pipelineCall(w, r, name, &memory)
	if err != nil {
		return err
	}
	out, err := a.call(r, user, cmd, args)
	if err != nil {
		return err
	}
	if version, ok := out.(tagged); ok {
		w.Header().Set("ETag", `"`+version.EntityTag()+`"`)
	}
	if doc, ok := out.(document); ok && r.Method == http.MethodGet {
		media, text := doc.Document()
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, text) //nolint:gosec // no browser runs YAML; an error means that the caller has gone
		return nil
	}
	memory.Release() // the arguments have done their work
	return a.answer(w, r, args, out)
}

// pipelineCall returns the command that a request to the pipelines stands for.
func (a *API) pipelineCall(w http.ResponseWriter, r *http.Request, name string, memory *limit.Hold) (cmd command.Command, args command.Args, err error) {
	methods := map[string]string{
		http.MethodPut:    "pipeline.put",
		http.MethodGet:    "pipeline.get",
		http.MethodDelete: "pipeline.delete",
		http.MethodPost:   "pipeline.run",
	}
	allow := "PUT, GET, DELETE, POST"
	if name == "" {
		methods, allow = map[string]string{http.MethodPost: "pipeline.run"}, "POST"
	}
	verb, ok := methods[r.Method]
	if !ok {
		return cmd, nil, notAllowed(allow)
	}
	if cmd, ok = a.Commands.Find(verb); !ok {
		return cmd, nil, notFound(w, r)
	}
	if r.Method == http.MethodPost {
		args, err = a.runArguments(w, r, cmd, name, memory)
		return cmd, args, err
	}
	if args, err = a.arguments(w, r, cmd, memory); err != nil {
		return cmd, nil, err
	}
	if tags := strings.Join(r.Header.Values("If-Match"), ","); tags != "" && r.Method != http.MethodGet {
		args = append(args, command.Arg{Name: "ifMatch", Value: tags})
	}
	return cmd, append(args, command.Arg{Name: "name", Value: name}), nil
}

// runArguments returns the arguments of a run. A stored pipeline gets its variables from
// the query and its body from the request. Without a name, the request's body is the
// pipeline itself.
func (a *API) runArguments(w http.ResponseWriter, r *http.Request, cmd command.Command, name string, memory *limit.Hold) (command.Args, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, command.MalformedQuery()
	}
	vars := make(map[string]any, len(query))
	for key, values := range query {
		if len(values) > 1 {
			return nil, sluice.Errorf(sluice.CodeParameterConflict, "The variable %q was given twice; give it once.", key).About(key)
		}
		vars[key] = values[0]
	}
	bare := r.Clone(r.Context())
	bare.URL.RawQuery = ""
	if name == "" {
		bare.Header.Set("Content-Type", "text/plain") // whatever type the caller gave it
	}
	args, err := a.arguments(w, bare, cmd, memory)
	if err != nil {
		return nil, err
	}
	args = append(args, command.Arg{Name: "vars", Value: vars})
	if name != "" {
		return append(args, command.Arg{Name: "name", Value: name}), nil
	}
	for i, arg := range args {
		if arg.Name == "body" {
			args[i].Name = "source"
			return args, nil
		}
	}
	return nil, sluice.Errorf(sluice.CodeBodyMissing, "The body must be a pipeline, in YAML or JSON.")
}
