package oidc

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"sluice"
)

const (
	maxForm     = 64 << 10
	formTimeout = 10 * time.Second
)

// readForm reads the parameters of a request. They come in the body only, since
// a URL ends up in logs, and each at most once. One without a value counts as
// not given (RFC 6749, 3.2).
func readForm(w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return nil, invalidRequest("The content type must be application/x-www-form-urlencoded.")
	}
	if r.URL.RawQuery != "" {
		return nil, invalidRequest("Parameters belong into the body, not into the URL.")
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	return parseForm(body)
}

func readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	deadline := time.Now().Add(formTimeout)
	if err := http.NewResponseController(w).SetReadDeadline(deadline); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return "", err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err == nil {
		return string(body), nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return "", sluice.CodeInvalidRequest.Errorf("The body is larger than %d bytes.", maxForm).
			OfKind(sluice.TooLarge)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", sluice.CodeInvalidRequest.Errorf("The body took too long to arrive.").OfKind(sluice.Timeout).
			Closing()
	}
	return "", invalidRequest("The body could not be read.")
}

// parseForm reads a form-encoded body.
func parseForm(body string) (map[string]string, error) {
	values, err := url.ParseQuery(body)
	if err != nil {
		return nil, invalidRequest("The parameters are not form-encoded.")
	}
	form := make(map[string]string, len(values))
	for name, given := range values {
		if len(given) > 1 {
			return nil, invalidRequest("A parameter is given more than once.")
		}
		if !plain(given[0]) || !plain(name) {
			return nil, invalidRequest("A parameter has control characters or is not UTF-8.")
		}
		if given[0] != "" {
			form[name] = given[0]
		}
	}
	return form, nil
}

// plain reports whether a text is UTF-8 without control characters.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func invalidRequest(message string) *sluice.Error {
	return sluice.CodeInvalidRequest.Errorf("%s", message)
}
