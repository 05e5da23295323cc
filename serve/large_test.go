package serve_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantAlive checks that a server is ready and takes calls.
func (s *service) wantAlive(t *testing.T, h hook) {
	t.Helper()
	s.send("GET", "/readyz", nil).wantStatus(t, http.StatusOK)
	s.call(h, "text/plain", "small").wantStatus(t, http.StatusOK)
	if log := s.log.String(); strings.Contains(log, "can't go on") || strings.Contains(log, "will be delivered to its pipeline again") {
		t.Errorf("a message could not be stored: %s", log)
	}
}

// TestAFolderThatALargeLetterHadBricked: version 0.2.0 wrote a dead letter with escapes for
// HTML. This one was too large for the engine, so the process ended, and again after each
// start. testdata/README.md says how the folder was made.
func TestAFolderThatALargeLetterHadBricked(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	unpack(t, "testdata/bricked-0.2.0.tar.gz", folder)
	content, err := os.ReadFile(filepath.Join(folder, "made.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made hook
	if err := json.Unmarshal(content, &made); err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, config: load(t, filepath.Join(folder, "data"), "public-url=https://sluice.example"), log: new(transcript), client: newClient()}
	s.resume()
	t.Cleanup(s.stop)
	eventually(t, "the dead letter", func() bool {
		var page struct{ Items []map[string]any }
		s.command("deadletter.get", map[string]any{"pipeline": "picky"}).wantStatus(t, http.StatusOK).into(t, &page)
		return len(page.Items) == 1
	})
	letter := s.letters(t, "picky", 1)[0]
	whole := s.command("deadletter.get", map[string]any{"letter": letter["letter"]}).wantStatus(t, http.StatusOK)
	if got := bytes.Count(whole.body, []byte("<")); got != 2_000_000 {
		t.Errorf("the letter has %d of 2,000,000 characters", got)
	}
	s.wantAlive(t, made)
}

// The pipelines of FuzzNoCallEndsTheServer, by what they do to a call.
var ends = []string{
	"pipeline:\n- event.listen: {eventKey: webhook.end}\n- fail: {message: '#{body.payload}', statusCode: 400}\n",
	"pipeline:\n- event.listen: {eventKey: webhook.end}\n- set: {value: '#{body}'}\n",
	"pipeline:\n- event.listen: {eventKey: webhook.end}\n- set: {value: '#{body.payload.no.such.member}'}\n",
	"retry: {times: 2, backoff: 10ms}\npipeline:\n- event.listen: {eventKey: webhook.end}\n- fail: {message: Later., statusCode: 503}\n",
}

// FuzzNoCallEndsTheServer: whatever a call contains, however large it is, and whatever a
// pipeline makes of it, the call is done in the end, can be sent again, and the server goes
// on.
func FuzzNoCallEndsTheServer(f *testing.F) {
	for end := range ends {
		f.Add([]byte("<"), 4<<20, uint8(end), uint8(end), "text/plain")
	}
	f.Add([]byte("\x01"), 4<<20, uint8(0), uint8(0), "text/plain")
	f.Add([]byte("\xff<"), 4<<20, uint8(0), uint8(3), "application/octet-stream")
	f.Add([]byte(`["<>&",{"\u2028":"<"}],`), 512_000, uint8(0), uint8(1), "application/json")
	f.Fuzz(func(t *testing.T, part []byte, size int, kind, end uint8, contentType string) {
		size = min(max(size, 0), 4<<20)
		if len(part) == 0 || strings.ContainsFunc(contentType, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Skip("no such body, or no such header")
		}
		body := string(bytes.Repeat(part, size/len(part)+1)[:size])
		s := start(t, untilDone)
		small := s.create("webhook.small")
		h := s.create("webhook.end", "payloadType", []string{"raw", "base64", "ignore"}[kind%3], "maxPayloadLength", 4<<20)
		s.store("end", ends[int(end)%len(ends)])
		got := s.call(h, contentType, body)
		if got.status == http.StatusOK {
			done := s.await(t, got.result(t).CorrelationID)
			if done.Status == "processing" {
				t.Errorf("the call is not done: %+v", done.Status)
			}
			s.command("event.replay", map[string]any{"traceId": done.TraceID}).wantStatus(t, http.StatusOK)
			if done.Status == "error" {
				s.command("deadletter.replay", map[string]any{"pipeline": "end"}).wantStatus(t, http.StatusOK)
			}
			eventually(t, "the end of the replays", func() bool { return len(s.callsOf(h, "processing"))+len(s.callsOf(h, "retrying")) == 0 })
		} else if got.status >= http.StatusInternalServerError {
			t.Errorf("the call is answered with %.300s", got)
		}
		s.wantAlive(t, small)
	})
}
