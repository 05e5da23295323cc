package client

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/problem"
)

// refusal returns the error in an answer.
func refusal(a Answer) *sluice.Error {
	if a.Status < http.StatusBadRequest {
		return elsewhere(a)
	}
	var p sluice.Problem
	var oauth struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.Body, &p)     // the body has one of these forms, or another:
	_ = json.Unmarshal(a.Body, &oauth) // then the fields stay empty
	kind := problem.KindOf(a.Status)
	if oauth.Code == sluice.CodeInvalidGrant.Word {
		kind = sluice.Unauthenticated
	}
	code := cmp.Or(oauth.Code, p.Code, "status-"+strconv.Itoa(a.Status))
	message := cmp.Or(oauth.Description, p.Detail,
		"The server answered "+strconv.Itoa(a.Status)+" "+http.StatusText(a.Status)+"; is there a sluice at this URL?")
	return (&sluice.Error{Kind: kind, Code: code, Message: message}).WithStatus(a.Status).About(p.Parameter).InCall(p.TraceID).
		At(sluice.Position{Line: p.Line, Column: p.Column, Snippet: p.Snippet, Step: p.Step}).After(retryAfter(a.Header)).Detailed(p.Errors)
}

// elsewhere is the error for a redirect, such as a proxy's to HTTPS. It names the
// host, but not the path or query, which may be secret.
func elsewhere(a Answer) *sluice.Error {
	target := "elsewhere"
	if to, err := url.Parse(a.Header.Get("Location")); err == nil && to.Host != "" {
		target = "to " + to.Scheme + "://" + to.Host
	}
	return sluice.Errorf(sluice.CodeRedirected, "The server leads %s; log in with the URL where sluice is.", target).WithStatus(a.Status)
}

// retryAfter reads the header of that name, 0 if there is none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
