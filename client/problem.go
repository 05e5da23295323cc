package client

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// kindOf says what sort of failure a status is.
var kindOf = map[int]sluice.Kind{
	http.StatusUnauthorized:          sluice.Unauthenticated,
	http.StatusForbidden:             sluice.Forbidden,
	http.StatusNotFound:              sluice.NotFound,
	http.StatusMethodNotAllowed:      sluice.MethodNotAllowed,
	http.StatusRequestTimeout:        sluice.Timeout,
	http.StatusConflict:              sluice.Conflict,
	http.StatusGone:                  sluice.Gone,
	http.StatusRequestEntityTooLarge: sluice.TooLarge,
	http.StatusUnsupportedMediaType:  sluice.Unsupported,
	http.StatusTooManyRequests:       sluice.Throttled,
	http.StatusBadGateway:            sluice.Unavailable,
	http.StatusServiceUnavailable:    sluice.Unavailable,
	http.StatusGatewayTimeout:        sluice.Unavailable,
}

// refusal gives the error that an answer tells of.
func refusal(a Answer) *sluice.Error {
	var p sluice.Problem
	var oauth struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.Body, &p)     // else the fields stay empty
	_ = json.Unmarshal(a.Body, &oauth) // as those of another form do
	e := sluice.Errorf(kind(a.Status), p.Code, "%s", p.Detail)
	e.Status, e.Parameter, e.TraceID = a.Status, p.Parameter, p.TraceID
	e.Place = sluice.Place{Line: p.Line, Column: p.Column, Snippet: p.Snippet, Step: p.Step}
	e.RetryAfter = retryAfter(a.Header)
	switch {
	case oauth.Code == "invalid_grant":
		e.Kind, e.Code, e.Message = sluice.Unauthenticated, oauth.Code, oauth.Description
	case oauth.Code != "":
		e.Code, e.Message = oauth.Code, oauth.Description
	}
	if e.Code == "" {
		e.Code = "status-" + strconv.Itoa(a.Status)
	}
	if e.Message == "" {
		e.Message = "The server answered " + strconv.Itoa(a.Status) + " " + http.StatusText(a.Status) + "; is there a sluice at this URL?"
	}
	return e
}

func kind(status int) sluice.Kind {
	if k, ok := kindOf[status]; ok {
		return k
	}
	if status >= http.StatusInternalServerError {
		return sluice.Internal
	}
	return sluice.Invalid
}

// retryAfter reads the header of that name, 0 if there is none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
