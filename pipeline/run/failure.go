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

// ignore goes on after an error, which is in the variable error.
func (x *execution) ignore(err error) {
	e := x.secrets.hideError(sluice.AsError(err))
	x.assign(source.Target{Section: source.ToVars, Name: "error"}, map[string]any{
		"code": e.Code, "statusCode": problem.Status(e), "message": e.Message, "step": e.Place.Step,
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

// positioned returns an error with the position in the source where it happened.
func (x *execution) positioned(ctx context.Context, s *source.Step, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	e := blamed(err)
	line, column := s.PositionOf(err)
	return e.Saying(s.Title(line) + ": " + shortened(x.secrets.hideText(e.Message))).
		At(sluice.Place{Line: line, Column: column, Step: s.Label()})
}

// blamed returns an error of a step. Where an expression failed because of a
// function it called, such as a secret that may not be used, the error has that
// failure's kind.
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
