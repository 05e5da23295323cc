package step

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// An expectation lists the statuses that are fine, such as 200 or 2xx. An empty one
// accepts every status.
type expectation []string

var expectedStatus = regexp.MustCompile(`^[1-5](xx|[0-9]{2})$`)

// expectationOf reads the parameter expect: a list of statuses, or a text with commas
// between them.
func expectationOf(given any) (expectation, error) {
	if given == nil {
		return nil, nil
	}
	items, isList := given.([]any)
	if !isList {
		text, err := cellOf(given)
		if err != nil {
			return nil, err
		}
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, item)
		}
	}
	var e expectation
	for _, item := range items {
		text, err := cellOf(item)
		if err != nil {
			return nil, err
		}
		status := strings.ToLower(strings.TrimSpace(text))
		if !expectedStatus.MatchString(status) {
			return nil, invalid("expect", "must be statuses such as 200 or 2xx, with commas between them")
		}
		e = append(e, status)
	}
	return e, nil
}

// has reports whether a status is fine.
func (e expectation) has(status int) bool {
	for _, expected := range e {
		if expected == strconv.Itoa(status) || expected == strconv.Itoa(status/100)+"xx" {
			return true
		}
	}
	return len(e) == 0
}

// failed is the error of an unexpected status. Its kind says whether a retry may help.
func (e expectation) failed(target *url.URL, response *http.Response) error {
	kind := sluice.Invalid
	switch status := response.StatusCode; {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		kind = sluice.Unavailable
	}
	wait, _ := sluice.RetryAfter(response.Header.Get("Retry-After"), time.Now())
	return sluice.Errorf(sluice.CodeHTTPStatus, "The call of %q was answered with %d, where %s is expected.", target.Hostname(), response.StatusCode, strings.Join(e, " or ")).OfKind(kind).
		After(wait)
}
