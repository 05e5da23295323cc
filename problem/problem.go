// Package problem maps errors to HTTP, and nothing else does: the status and headers of an error,
// its problem document (RFC 9457), and the kind of error that a status stands for.
//
// The packages that answer over HTTP (api, portal, oidc) write the answers
// themselves; client reads them.
package problem

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice"
)

var statusOf = map[sluice.Kind]int{
	sluice.Internal:         http.StatusInternalServerError,
	sluice.Invalid:          http.StatusBadRequest,
	sluice.Unauthenticated:  http.StatusUnauthorized,
	sluice.Forbidden:        http.StatusForbidden,
	sluice.NotFound:         http.StatusNotFound,
	sluice.MethodNotAllowed: http.StatusMethodNotAllowed,
	sluice.Timeout:          http.StatusRequestTimeout,
	sluice.Conflict:         http.StatusConflict,
	sluice.Gone:             http.StatusGone,
	sluice.TooLarge:         http.StatusRequestEntityTooLarge,
	sluice.Unsupported:      http.StatusUnsupportedMediaType,
	sluice.Throttled:        http.StatusTooManyRequests,
	sluice.Unavailable:      http.StatusServiceUnavailable,
	sluice.Loop:             http.StatusLoopDetected,
	sluice.Unprocessable:    http.StatusUnprocessableEntity,
	sluice.Outdated:         http.StatusPreconditionFailed,
	sluice.HeadTooLarge:     http.StatusRequestHeaderFieldsTooLarge,
	sluice.Full:             http.StatusInsufficientStorage,
}

// Status returns the HTTP status of an error: that of its kind, unless it has
// one of its own.
func Status(err error) int {
	e := sluice.AsError(err)
	if e.Status != 0 {
		return e.Status
	}
	return statusOf[e.Kind]
}

// KindOf returns the kind of failure that a status stands for, whether it is
// ours or that of a proxy in between.
func KindOf(status int) sluice.Kind {
	for kind, of := range statusOf {
		if of == status {
			return kind
		}
	}
	switch {
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		return sluice.Unavailable
	case status >= http.StatusInternalServerError:
		return sluice.Internal
	}
	return sluice.Invalid
}

// SetHeaders sets the headers that tell the caller what to do next, whatever the body is.
func SetHeaders(header http.Header, r *http.Request, e *sluice.Error) {
	if e.Allow != "" {
		header.Set("Allow", e.Allow)
	}
	for _, challenge := range e.Challenge {
		if strings.HasPrefix(challenge, "Basic ") && fromBrowser(r) {
			continue
		}
		header.Add("WWW-Authenticate", challenge)
	}
	if wait := e.RetryAfter; wait > 0 {
		if e.Kind == sluice.Unavailable {
			wait += rand.N(wait + time.Second) // so that callers who were refused together come back one by one
		}
		header.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	if e.Close {
		header.Set("Connection", "close")
	}
}

// WantsHTML reports whether a request is answered best with a page.
func WantsHTML(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// fromBrowser reports whether a browser has sent a request. A browser that is told of
// Basic asks for a password, remembers it, and adds it to all requests, even those that
// pages of other sites make it send. Without HTTPS, browsers don't send the mode.
func fromBrowser(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Mode") != "" || WantsHTML(r) }

// Of returns an error as callers see it.
func Of(err error) *sluice.Problem {
	e := sluice.AsError(err)
	status := Status(e)
	return &sluice.Problem{
		Type:       "urn:sluice:problem:" + e.Code,
		Title:      title(e.Code),
		Status:     status,
		Detail:     e.Message,
		Code:       e.Code,
		StatusCode: status,
		TraceID:    e.TraceID,
		Parameter:  e.Parameter,
		SQLState:   e.SQLState,
		Position:   e.Position,
		Errors:     e.Details,
	}
}

// title returns a code in words.
func title(code string) string {
	words := strings.NewReplacer("-", " ", "_", " ").Replace(code)
	return strings.ToUpper(words[:1]) + words[1:]
}
