package problem_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/problem"
)

// TestEveryKindHasAStatus: no error is answered with the status 0, and a client
// reads the kind from the status again.
func TestEveryKindHasAStatus(t *testing.T) {
	for _, kind := range []sluice.Kind{
		sluice.Internal, sluice.Invalid, sluice.Unauthenticated, sluice.Forbidden, sluice.NotFound, sluice.MethodNotAllowed,
		sluice.Timeout, sluice.Conflict, sluice.Gone, sluice.TooLarge, sluice.Unsupported, sluice.Throttled, sluice.Unavailable,
		sluice.Loop, sluice.Unprocessable, sluice.Outdated, sluice.HeadTooLarge, sluice.Full,
	} {
		status := problem.Status(sluice.Code("x").Errorf("X.").OfKind(kind))
		if http.StatusText(status) == "" || problem.KindOf(status) != kind {
			t.Errorf("kind %s has the status %d, which is of kind %s", kind, status, problem.KindOf(status))
		}
	}
	for status, want := range map[int]sluice.Kind{502: sluice.Unavailable, 504: sluice.Unavailable, 505: sluice.Internal, 418: sluice.Invalid} {
		if got := problem.KindOf(status); got != want {
			t.Errorf("%d is of kind %s, want %s", status, got, want)
		}
	}
}

func TestProblemOfAnError(t *testing.T) {
	e := sluice.CodeTooManyLogins.Errorf("Too many.").After(1500 * time.Millisecond).About("name").
		At(sluice.Position{Line: 3, Column: 5, Snippet: "- x", Step: "x"}).InCall("abcdef:0123456789")
	want := &sluice.Problem{
		Type: "urn:sluice:problem:too-many-logins", Title: "Too many logins", Status: 429, StatusCode: 429, Detail: "Too many.",
		Code: "too-many-logins", TraceID: "abcdef:0123456789", Parameter: "name",
		Position: sluice.Position{Line: 3, Column: 5, Snippet: "- x", Step: "x"},
	}
	if diff := cmp.Diff(want, problem.Of(e)); diff != "" {
		t.Error(diff)
	}
	header := http.Header{}
	problem.SetHeaders(header, &http.Request{}, e.Allowing("GET").Challenging("Basic", "Bearer").Closing())
	wantHeader := http.Header{"Retry-After": {"2"}, "Allow": {"GET"}, "Www-Authenticate": {"Basic", "Bearer"}, "Connection": {"close"}}
	if diff := cmp.Diff(wantHeader, header); diff != "" {
		t.Error(diff)
	}
	if got := problem.Of(errors.New("the password is x")); got.Status != 500 || got.Code != "internal" {
		t.Errorf("a foreign error is shown as %+v", got)
	}
	if got := problem.Status(sluice.CodeFailed.Errorf("No.").OfKind(sluice.Internal).WithStatus(418)); got != 418 {
		t.Errorf("an author's own status is answered as %d", got)
	}
}

// TestCallersAreSpread: a server that could not answer is not called by all of them in
// the same second.
func TestCallersAreSpread(t *testing.T) {
	e := sluice.CodeEngineUnavailable.Errorf("No.").After(2 * time.Second)
	told := make(map[string]int)
	for range 1000 {
		header := http.Header{}
		problem.SetHeaders(header, &http.Request{}, e)
		told[header.Get("Retry-After")]++
	}
	if len(told) != 3 || told["3"] == 0 || told["4"] == 0 || told["5"] == 0 {
		t.Errorf("callers are told %v", told)
	}
}
