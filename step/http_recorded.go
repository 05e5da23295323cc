package step

import (
	"net/http"
	"regexp"
	"strings"

	"sluice"
)

// recorded returns the recorded answer to a request, which is not sent.
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
	return answerOf(response, []byte(body)), nil
}

// notText is what is noted in place of bytes.
var notText = regexp.MustCompile(`^\(\d+ bytes that are not text\)$`)

// readNoted returns what was noted of an answer, if it is all there.
func readNoted(text string) (header http.Header, body string, ok bool) {
	head, body, _ := strings.Cut("\n"+text, "\n\n")
	header = http.Header{}
	for line := range strings.Lines(strings.TrimPrefix(head, "\n")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		header.Set(name, value)
	}
	return header, body, !notText.MatchString(body)
}
