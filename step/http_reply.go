package step

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// An answer is the output of http.request. Its name is that of the API's schema, StepAnswer.
type answer struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       any               `json:"body"`
	Encoding   string            `json:"encoding,omitempty"` // base64 if the body is not text
}

// readReply reads a body. The limit counts unpacked bytes.
func readReply(body io.Reader, limit int64) ([]byte, error) {
	read, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(read)) > limit {
		return nil, sluice.Errorf(sluice.CodeAnswerTooLarge, "The answer has more than %d bytes; ask for less.", limit)
	}
	return read, nil
}

func replyOf(response *http.Response, body []byte) answer {
	r := answer{StatusCode: response.StatusCode, Headers: make(map[string]string, len(response.Header))}
	for name, values := range response.Header {
		r.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
	}
	if !utf8.Valid(body) {
		r.Body, r.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
		return r
	}
	r.Body = string(body)
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	levels, _ := value.Inspect(body)
	if err == nil && value.IsMediaType(mediaType) && levels <= value.MaxDepth { // the reply adds a level
		if decoded, err := decodeJSON(string(body)); err == nil {
			r.Body = decoded
		}
	}
	return r
}

// reason returns why a call failed, in words that help the author of the pipeline.
func reason(err error) string {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return "there is no such host"
		}
		return "the name of the host could not be looked up"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate of the host is not trusted"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "the host refuses connections on that port"
	}
	return "the connection broke, or what came was not a valid answer"
}

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
