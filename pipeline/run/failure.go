package run

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/source"
	"sluice/problem"
)

// ignore puts an error into the variable error, so that the run can go on.
func (x *execution) ignore(err error) {
	e := x.secrets.hideError(sluice.AsError(err))
	seen := map[string]any{
		"code": e.Code, "statusCode": problem.Status(e), "message": e.Message, "step": e.Position.Step,
	}
	if e.SQLState != "" {
		seen["sqlState"] = e.SQLState
	}
	x.assign(source.Target{Section: source.ToVars, Name: "error"}, seen, weight{len(e.Message), len(e.Message)})
}

// recovered turns a panic in a step into an error.
func (x *execution) recovered(s *source.Step, err *error) {
	r := recover()
	if r == nil {
		return
	}
	x.environment.Log.Error("A step of a pipeline panicked.", "traceId", x.run.TraceID, "pipeline", x.run.Pipeline,
		"step", s.Name, "line", s.Line,
		"panic", x.secrets.hideText(fmt.Sprint(r)), "stack", string(debug.Stack()))
	*err = sluice.CodeStepPanicked.Errorf(
		"The step failed inside; the server's log has the cause under the trace id %s.", x.run.TraceID)
}

func (x *execution) positioned(ctx context.Context, s *source.Step, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	e := blamed(err)
	line, column := s.PositionOf(err)
	return e.Saying(s.Title(line) + ": " + sluice.Shorten(x.secrets.hideText(e.Message), maxMessage)).
		At(sluice.Position{Line: line, Column: column, Step: s.Label()}).Detailed(nil) // may quote secrets
}

// blamed returns the error of a step. If an expression failed because of a function that
// it called, such as secret, the error has the kind and code of that failure.
func blamed(err error) *sluice.Error {
	e := sluice.AsError(err)
	cause, ok := errors.AsType[*sluice.Error](e.Err)
	if !ok || e.Code != string(sluice.CodeExpressionFailed) {
		return e
	}
	return (&sluice.Error{Kind: cause.Kind, Code: cause.Code, Message: e.Message}).WithStatus(cause.Status).
		After(cause.RetryAfter).Because(e.Err)
}

// quoted matches what errors of commands quote.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// hideComputed hides what the error of a command quotes of its arguments and the source does
// not have: the sender of the event may have written it, and errors are shown to people who
// may not see payloads. What an author wants to say is hidden from those people elsewhere.
func (x *execution) hideComputed(args command.Args, err error) error {
	e, ours := errors.AsType[*sluice.Error](err)
	if x.run.Event == nil || !ours || e.Position.Step != "" || sluice.CodeFailed.Is(e) ||
		sluice.CodeAssertionFailed.Is(e) {
		return err
	}
	hidden := quoted.ReplaceAllStringFunc(e.Message, func(text string) string {
		plain, err := strconv.Unquote(text)
		plain = strings.TrimSuffix(plain, "…")
		if err != nil || strings.Contains(x.program.Text, plain) {
			return text
		}
		for _, arg := range args {
			if mentions(arg.Value, strings.ToLower(plain)) {
				return "(computed)"
			}
		}
		return text
	})
	if hidden == e.Message {
		return err
	}
	return e.Saying(hidden)
}

// mentions reports whether a value has a text, which is in lower case, anywhere in it.
func mentions(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(strings.ToLower(v), text)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return mentions(item, text) })
	case map[string]any:
		for name, item := range v {
			if mentions(name, text) || mentions(item, text) {
				return true
			}
		}
	}
	return false
}

// maxMessage is how many bytes the message of an error has, which keeps payloads out of it.
const maxMessage = 8 << 10

// MaxReported is how many steps the report of a run lists.
const MaxReported = 500

// How many bytes a report has of a request or reply, of a URL, and of all exchanges
// together. Beyond that it has method, URL and status.
const (
	MaxMessage   = 4 << 10
	MaxURL       = 2 << 10
	MaxExchanges = 128 << 10
)

// newReport returns the head of a run's report.
func newReport(p *source.Program, s Start) *sluice.RunReport {
	return &sluice.RunReport{
		Pipeline:      s.Run.Pipeline,
		User:          s.Run.Caller,
		TraceID:       s.Run.TraceID,
		CorrelationID: s.Run.CorrelationID,
		EventKey:      s.EventKey,
		Type:          s.Type,
		Attempt:       s.Attempt,
		Delivery:      s.Delivery,
		Steps:         make([]sluice.StepReport, 0, min(len(p.Steps), MaxReported)),
	}
}

// note adds a step to the report. If the step switched the user, the report has the new
// one.
func (x *execution) note(s *source.Step, started time.Time, before sluice.User, err error) {
	sent := x.run.NotedHTTP()
	if sent != nil {
		for _, at := range []string{sent.URL, sent.Asked} {
			x.hosts = withName(x.hosts, hostOf(x.secrets.hideText(at)))
		}
	}
	if len(x.report.Steps) >= MaxReported {
		return
	}
	r := sluice.StepReport{
		Number:   s.Number,
		Command:  s.Name,
		ID:       s.ID,
		Line:     s.Line,
		Started:  sluice.Milliseconds(started.Sub(x.started)),
		Duration: sluice.Milliseconds(time.Since(started)),
		Status:   sluice.StatusOK,
		Kept:     x.kept,
	}
	switch {
	case waits(err):
		r.Status = sluice.StatusProcessing
	case err != nil:
		r.Status, r.Code = sluice.StatusError, sluice.AsError(err).Code
	}
	if now := x.run.User().Name; now != before.Name {
		r.User = now
	}
	if sent != nil {
		r.HTTP = x.exchange(sent)
	}
	x.report.Steps = append(x.report.Steps, r)
}

// exchange returns an exchange for the report, with its host if the source names that.
func (x *execution) exchange(e *sluice.Exchange) *sluice.Exchange {
	view := x.secrets.Show(e, &x.noted)
	if host := hostOf(view.URL); strings.Contains(x.program.Text, host) {
		view.Host = host
	}
	return view
}

// Show returns an exchange for people, without secrets. noted counts the bytes of all that were
// shown: beyond MaxExchanges it has method, URL and status.
func (s *Secrets) Show(e *sluice.Exchange, noted *int) *sluice.Exchange {
	view := &sluice.Exchange{Method: e.Method, URL: s.HideStart(e.URL, MaxURL), StatusCode: e.StatusCode}
	if *noted < MaxExchanges {
		view.Request, view.Response = s.HideStart(e.Request, MaxMessage), s.HideStart(e.Response, MaxMessage)
		*noted += len(view.Request) + len(view.Response)
	}
	return view
}

// hostOf returns the host of a URL that has no user, and may be cut off.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "//")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}
