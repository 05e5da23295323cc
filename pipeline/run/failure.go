package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"sluice"
	"sluice/pipeline/source"
	"sluice/problem"
)

// ignore puts an error into the variable error, so that the run can go on.
func (x *execution) ignore(err error) {
	e := x.secrets.hideError(sluice.AsError(err))
	x.assign(source.Target{Section: source.ToVars, Name: "error"}, map[string]any{
		"code": e.Code, "statusCode": problem.Status(e), "message": e.Message, "step": e.Position.Step,
	}, weight{len(e.Message), len(e.Message)})
}

// recovered turns a panic in a step into an error.
func (x *execution) recovered(s *source.Step, err *error) {
	r := recover()
	if r == nil {
		return
	}
	x.environment.Log.Error("A step of a pipeline panicked.", "traceId", x.run.TraceID, "pipeline", x.run.Pipeline, "step", s.Name, "line", s.Line,
		"panic", x.secrets.hideText(fmt.Sprint(r)), "stack", string(debug.Stack()))
	*err = sluice.Errorf(sluice.CodeStepPanicked, "The step failed inside; the server's log has the cause under the trace id %s.", x.run.TraceID)
}

// positioned adds the position in the source to an error.
func (x *execution) positioned(ctx context.Context, s *source.Step, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	e := blamed(err)
	line, column := s.PositionOf(err)
	return e.Saying(s.Title(line) + ": " + shortened(x.secrets.hideText(e.Message))).
		At(sluice.Position{Line: line, Column: column, Step: s.Label()})
}

// blamed returns the error of a step. If an expression failed because of a function that
// it called, such as secret, the error has the kind and code of that failure.
func blamed(err error) *sluice.Error {
	e := sluice.AsError(err)
	cause, ok := errors.AsType[*sluice.Error](e.Err)
	if !ok || e.Code != sluice.CodeExpressionFailed.Word {
		return e
	}
	return (&sluice.Error{Kind: cause.Kind, Code: cause.Code, Message: e.Message}).WithStatus(cause.Status).After(cause.RetryAfter).Because(e.Err)
}

// shortened keeps payloads out of errors.
func shortened(message string) string {
	const longest = 8 << 10
	if len(message) <= longest {
		return message
	}
	return strings.ToValidUTF8(message[:longest], "") + "…"
}
