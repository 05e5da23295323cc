package lane

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAnswerIsFramedOnce: whatever a handler says of where its answer ends, there
// is one end to it.
func TestAnswerIsFramedOnce(t *testing.T) {
	w := newAnswer(nil)
	w.Header().Set("Content-Length", "9")
	w.Header().Set("Transfer-Encoding", "chunked")
	w.Header().Set("Date", "yesterday")
	w.WriteHeader(http.StatusEarlyHints)
	if _, err := io.WriteString(w, "hi"); err != nil {
		t.Fatal(err)
	}
	sent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))
	text, _ := w.finish(sent)
	for name, want := range map[string]int{"Content-Length:": 1, "Date:": 1, "Transfer-Encoding:": 0} {
		if got := strings.Count(string(text), name); got != want {
			t.Errorf("%s is there %d times, want %d", name, got, want)
		}
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || string(content) != "hi" || response.StatusCode != http.StatusOK {
		t.Errorf("it is read as %d %q, %v", response.StatusCode, content, err)
	}
	if at, err := http.ParseTime(response.Header.Get("Date")); err != nil || !at.Equal(sent) {
		t.Errorf("its date is %s, %v, want %s", at, err, sent)
	}
}
