package step

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice"
)

// maxNoted is how many bytes of a request or reply are noted. That is more than the report
// shows, so that secrets at the end of the report are still whole and can be found.
const maxNoted = 16 << 10

// exchangeOf returns a request and its reply as people read them.
func exchangeOf(request *http.Request, response *http.Response, body []byte) sluice.Exchange {
	e := sluice.Exchange{Method: request.Method, URL: request.URL.String(), Request: noted(request.Header, sentStart(request), int(request.ContentLength))}
	if response != nil {
		e.StatusCode = response.StatusCode
		e.Response = noted(response.Header, body[:min(len(body), maxNoted)], len(body))
	}
	return e
}

// sentStart returns the beginning of the body of a request that was sent.
func sentStart(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	body, err := request.GetBody()
	if err != nil {
		return nil
	}
	start, _ := io.ReadAll(io.LimitReader(body, maxNoted)) // it is in memory
	return start
}

// noted writes headers and the beginning of a body of that size.
func noted(header http.Header, start []byte, size int) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(header)) {
		lower, value := strings.ToLower(name), strings.Join(header[name], ", ")
		if value == "" {
			continue
		}
		if sluice.SecretHeader(lower) {
			value = "***"
		}
		text.WriteString(lower + ": " + strings.ToValidUTF8(value, "\ufffd") + "\n")
	}
	if size == 0 {
		return text.String()
	}
	text.WriteByte('\n')
	for cut := 0; len(start) < size && cut < utf8.UTFMax-1 && !utf8.Valid(start); cut++ {
		start = start[:len(start)-1] // half a character
	}
	if !utf8.Valid(start) {
		fmt.Fprintf(&text, "(%d bytes that are not text)", size)
	} else {
		text.Write(start)
	}
	return text.String()
}

// recorded returns the recorded reply to a request, instead of sending it.
func recorded(run *sluice.Run, request *http.Request, expect expectation) (answer, error) {
	got, err := run.Recorded(request.Context(), exchangeOf(request, nil, nil))
	if err != nil {
		return answer{}, err
	}
	header, body, ok := readNoted(got.Response)
	if !ok {
		return answer{}, sluice.NotRecorded()
	}
	response := &http.Response{StatusCode: got.StatusCode, Header: header}
	if !expect.has(got.StatusCode) {
		return answer{}, expect.failed(request.URL, response)
	}
	return replyOf(response, []byte(body)), nil
}

var notText = regexp.MustCompile(`^\(\d+ bytes that are not text\)$`)

// readNoted parses a noted reply, and reports whether its body was noted.
func readNoted(text string) (header http.Header, body string, ok bool) {
	head, body, _ := strings.Cut("\n"+text, "\n\n")
	header = http.Header{}
	for line := range strings.Lines(strings.TrimPrefix(head, "\n")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		header.Set(name, value)
	}
	return header, body, !notText.MatchString(body)
}
