package sluice

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Names in requests and answers.
const (
	CorrelationHeader = "Svc-Result-Correlationid" // the id to poll with
	CorrelationQuery  = "svc-result-correlationid" // the same id in a poll
	RedirectQuery     = "pollingRedirectEnabled"   // whether polls are redirected until the result is ready
	TraceHeader       = "Svc-Trace-Id"             // names the call in logs and traces

	// HopsHeader counts the events and pipelines that led to a request of a
	// pipeline, so that loops through HTTP end, too.
	HopsHeader = "Svc-Hops"
)

// IsHeaderName reports whether a header can have that name (a token of RFC 9110).
func IsHeaderName(name string) bool {
	const ofNames = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return name != "" && strings.Trim(name, ofNames) == ""
}

// secretWords stand in the names of headers that carry keys of their sender.
var secretWords = strings.Fields("authorization cookie token secret password passwd passphrase credential session " +
	"jwt bearer api-key apikey access-key auth-key private-key subscription-key functions-key")

// SecretHeader reports whether a header, in lower case, carries a key of its sender, by its
// name. Such headers are not stored, passed on or shown.
func SecretHeader(name string) bool {
	switch name {
	case "accept", "accept-encoding", "content-length", "content-type", "host", "user-agent": // of nearly every call
		return false
	case "uuid", "x-auth":
		return true
	}
	if strings.Contains(name, "_") {
		name = strings.ReplaceAll(name, "_", "-")
	}
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// RetryAfter returns how long a reply whose header Retry-After has this text asks to wait
// before a retry, a week at most, and whether it says so at all.
func RetryAfter(text string, now time.Time) (wait time.Duration, asked bool) {
	const longest = 7 * 24 * time.Hour
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range, it is the largest number
		return min(time.Duration(seconds)*time.Second, longest), true
	}
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, text); err == nil {
			return min(max(0, at.Sub(now)), longest), true
		}
	}
	return 0, false
}
