package step_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"sluice"
)

// TestExpectedStatuses: a status that is not expected fails the step, in a way
// that reports whether trying again helps.
func TestExpectedStatuses(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			panic(err)
		}
		w.WriteHeader(status)
	})
	const fine sluice.Kind = "none"
	for _, test := range []struct {
		expect any
		status int
		kind   sluice.Kind
	}{
		{nil, 500, fine},
		{"2xx", 200, fine},
		{"2xx", 299, fine},
		{"2XX, 404", 404, fine},
		{200, 200, fine},
		{list{200, "4xx"}, 418, fine},
		{list{}, 404, fine},
		{"200,404", 201, sluice.Invalid},
		{"2xx", 301, sluice.Invalid},
		{"2xx", 400, sluice.Invalid},
		{"2xx", 404, sluice.Invalid},
		{"2xx", 408, sluice.Unavailable},
		{"2xx", 425, sluice.Unavailable},
		{"2xx", 429, sluice.Unavailable},
		{"2xx", 500, sluice.Unavailable},
		{"2xx", 503, sluice.Unavailable},
	} {
		_, err := request(t.Context(), local, args{"url": at + "/" + strconv.Itoa(test.status), "expect": test.expect})
		if test.kind == fine {
			if err != nil {
				t.Errorf("%v, %d: %v", test.expect, test.status, err)
			}
			continue
		}
		refuses(t, err, test.kind, "http-status", "answered with "+strconv.Itoa(test.status))
	}
	for _, bad := range []any{"", "2yy", "ok", "99", "600", "2xx,", list{nil}, true, object{}} {
		_, err := request(t.Context(), local, args{"url": at + "/200", "expect": bad})
		refuses(t, err, sluice.Invalid, "parameter-invalid", "expect")
	}
}

// TestRetryAfterIsAHint: an answer says when to try again.
func TestRetryAfterIsAHint(t *testing.T) {
	given := ""
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", given)
		w.WriteHeader(http.StatusTooManyRequests)
	})
	for _, test := range []struct {
		given       string
		least, most time.Duration
	}{
		{"120", 2 * time.Minute, 2 * time.Minute},
		{"0", 0, 0},
		{"", 0, 0},
		{"soon", 0, 0},
		{"-5", 0, 0},
		{"9999999", 7 * 24 * time.Hour, 7 * 24 * time.Hour},
		{"99999999999999999999999", 7 * 24 * time.Hour, 7 * 24 * time.Hour},
		{time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 58 * time.Minute, time.Hour},
		{"Sun, 06 Nov 1994 08:49:37 GMT", 0, 0},
	} {
		given = test.given
		_, err := request(t.Context(), local, args{"url": at, "expect": "2xx"})
		refuses(t, err, sluice.Unavailable, "http-status", "429")
		if got := sluice.AsError(err).RetryAfter; got < test.least || got > test.most {
			t.Errorf("%q is a hint of %s", test.given, got)
		}
	}
}
