package receive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/limit"
)

const known = "0b9f3c1e-6a52-4d0e-9f4e-2f1f7f2f9a10"

// finder knows one webhook, or fails.
type finder struct{ err error }

func (f finder) OpenedBy(ctx context.Context, token string) (sluice.Webhook, error) {
	return f.Webhook(ctx, token)
}

func (f finder) Webhook(_ context.Context, uuid string) (sluice.Webhook, error) {
	if f.err != nil {
		return sluice.Webhook{}, f.err
	}
	if uuid != known {
		return sluice.Webhook{}, sluice.CodeWebhookNotFound.Errorf("There is none.")
	}
	return sluice.Webhook{UUID: known, EventKey: "webhook.known", PayloadType: sluice.Base64, MaxPayloadLength: 100}, nil
}

// sink takes events as JSON, or fails.
type sink struct {
	err error

	mu     sync.Mutex
	events []string
}

func (s *sink) Accept(_ context.Context, e *sluice.Event, _ time.Duration) (sluice.Result, error) {
	if s.err != nil {
		return sluice.Result{}, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, string(e.AppendJSON(nil)))
	return sluice.Accepted(e.TraceID, "correlation", e.ReceivedAt), nil
}

// full is a quarantine without room.
type full struct{}

func (full) Keep(string, int, func() *sluice.QuarantinedCall) bool { return false }

// receiver returns a receiver with its log.
func receiver(f finder, s *sink) (*Receiver, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return New(Needs{
		Find:   Find{WebhookFinder: f},
		Events: s, Namespace: "default", Slots: limit.NewSlots(100),
		Bodies:     limit.NewBodies(limit.BodyOptions{Pace: limit.Pace{Idle: time.Minute, Total: time.Minute}, Known: 32 << 20, Strange: 16 << 20, Answers: 1 << 20, Unfinished: 100}),
		Quarantine: full{},
		Observe:    func(sluice.Call) {},
		Log:        slog.New(slog.NewTextHandler(log, nil)),
	}), log
}

// recorder records an answer. It has deadlines, as a connection does.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) SetReadDeadline(time.Time) error { return nil }

func newRecorder() recorder { return recorder{httptest.NewRecorder()} }

// TestEngineFails: a fault of ours is never the caller's. The error says which
// call it was; nothing is answered or logged as accepted.
func TestEngineFails(t *testing.T) {
	unavailable := sluice.CodeEngineUnavailable.Errorf("Try again soon.")
	for name, cause := range map[string]error{"unavailable": unavailable, "unexpected": errors.New("oops")} {
		t.Run(name, func(t *testing.T) {
			r, log := receiver(finder{}, &sink{err: cause})
			w := newRecorder()
			err := sluice.AsError(r.serve(w, httptest.NewRequest("GET", "/?token="+known, nil)))
			if err.Kind != sluice.Unavailable && err.Kind != sluice.Internal {
				t.Errorf("the error is %v", err)
			}
			if !strings.HasPrefix(err.TraceID, sluice.Last6(known)+":") {
				t.Errorf("the error has the trace id %q", err.TraceID)
			}
			if w.Body.Len() > 0 || len(w.Result().Header) > 0 || log.Len() > 0 {
				t.Errorf("answered %v and logged %q", w.Result(), log)
			}
		})
	}
}

// TestFinderFails: while webhooks can't be looked up, a token is not called
// unknown, and doesn't count as a wrong guess.
func TestFinderFails(t *testing.T) {
	unavailable := sluice.CodeEngineUnavailable.Errorf("Try again soon.")
	r, _ := receiver(finder{err: unavailable}, new(sink))
	for range 100 {
		err := sluice.AsError(r.serve(newRecorder(), httptest.NewRequest("GET", "/?token="+known, nil)))
		if err.Kind != sluice.Unavailable {
			t.Fatalf("the error is %v, want that the engine is unavailable", err)
		}
	}
}

// TestMissingTokensCountAsGuesses: strangers who send no token are bounded like
// those who guess.
func TestMissingTokensCountAsGuesses(t *testing.T) {
	r, _ := receiver(finder{}, new(sink))
	codes := make(map[string]int)
	for range 1000 {
		codes[sluice.AsError(r.serve(newRecorder(), httptest.NewRequest("GET", "/", nil))).Code]++
	}
	if codes["token-missing"] == 0 || codes["too-many-bad-tokens"] < codes["token-missing"] {
		t.Errorf("a thousand calls without a token were answered %v", codes)
	}
}

// TestCallsDontShareMemory: buffers are used again; nothing of a call may show in
// another.
func TestCallsDontShareMemory(t *testing.T) {
	s := new(sink)
	r, _ := receiver(finder{}, s)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			text := strings.Repeat("x", i)
			call := httptest.NewRequest("POST", "/?token="+known, strings.NewReader(text))
			call.Header.Set("X-Body", text)
			w := newRecorder()
			if err := r.serve(w, call); err != nil || w.Code != http.StatusOK {
				t.Errorf("answered %d, %v: %s", w.Code, err, w.Body)
			}
		})
	}
	all.Wait()
	for _, data := range s.events {
		var event struct {
			Payload struct {
				Origin []byte `json:"origin"`
			} `json:"payload"`
			Headers map[string]string `json:"headers"`
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		if string(event.Payload.Origin) != event.Headers["x-body"] {
			t.Errorf("the body of %d bytes became %q", len(event.Headers["x-body"]), event.Payload.Origin)
		}
	}
}

// TestARefusalNamesItsWebhook, once the call has shown its token.
func TestARefusalNamesItsWebhook(t *testing.T) {
	r, log := receiver(finder{}, new(sink))
	tooLong := httptest.NewRequest("POST", "/?token="+known, strings.NewReader(strings.Repeat("x", 101)))
	if err := r.serve(newRecorder(), tooLong); err == nil || !strings.Contains(log.String(), "statusCode=413 eventKey=webhook.known") {
		t.Errorf("%v is logged as %s", err, log)
	}
}

// TestRefusalsAreLogged: an operator sees that calls are refused and why, and
// strangers can't fill the log.
func TestRefusalsAreLogged(t *testing.T) {
	r, log := receiver(finder{}, new(sink))
	for range 100 {
		if err := r.serve(newRecorder(), httptest.NewRequest("PUT", "/?token="+known, nil)); err == nil {
			t.Fatal("a PUT is taken")
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 20 || !strings.Contains(lines[0], "A call was refused") || !strings.Contains(lines[0], "statusCode=405") || strings.Contains(log.String(), known) {
		t.Errorf("%d lines are logged, the first one: %s", len(lines), lines[0])
	}
}
