package step

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"syscall"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// An answer is the result of http.request.
type answer struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       any               `json:"body"`
	Encoding   string            `json:"encoding,omitempty"` // base64 if the body is not text
}

// readAnswer reads a body up to the limit, which counts what is unpacked.
func readAnswer(body io.Reader, limit int64) ([]byte, error) {
	read, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(read)) > limit {
		return nil, sluice.Errorf(sluice.CodeAnswerTooLarge, "The answer has more than %d bytes; ask for less.", limit)
	}
	return read, nil
}

func answerOf(response *http.Response, body []byte) answer {
	a := answer{StatusCode: response.StatusCode, Headers: make(map[string]string, len(response.Header))}
	for name, values := range response.Header {
		a.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
	}
	if !utf8.Valid(body) {
		a.Body, a.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
		return a
	}
	a.Body = string(body)
	levels, _ := value.Inspect(body)
	if isJSON(response.Header.Get("Content-Type")) && levels <= value.MaxDepth { // deeper, the answer around it would be too deep
		if decoded, err := decodeJSON(string(body)); err == nil {
			a.Body = decoded
		}
	}
	return a
}

func isJSON(contentType string) bool {
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && (mediaType == "application/json" || strings.HasSuffix(mediaType, "+json"))
}

// reason returns why a call failed, as far as the author of the pipeline can do
// something about it.
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
