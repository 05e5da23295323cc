package client

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/problem"
)

// refusal returns the error in an answer.
func refusal(a Answer) *sluice.Error {
	var p sluice.Problem
	var oauth struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.Body, &p)     // otherwise the fields stay empty
	_ = json.Unmarshal(a.Body, &oauth) // as those of another form do
	kind := problem.KindOf(a.Status)
	if oauth.Code == "invalid_grant" {
		kind = sluice.Unauthenticated
	}
	code := cmp.Or(oauth.Code, p.Code, "status-"+strconv.Itoa(a.Status))
	message := cmp.Or(oauth.Description, p.Detail,
		"The server answered "+strconv.Itoa(a.Status)+" "+http.StatusText(a.Status)+"; is there a sluice at this URL?")
	return sluice.Errorf(kind, code, "%s", message).WithStatus(a.Status).About(p.Parameter).InCall(p.TraceID).
		At(sluice.Place{Line: p.Line, Column: p.Column, Snippet: p.Snippet, Step: p.Step}).After(retryAfter(a.Header)).Detailed(p.Errors)
}

// retryAfter reads the header of that name, 0 if there is none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
