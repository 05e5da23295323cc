package jetstream

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

func event(traceID string) *sluice.Event {
	return &sluice.Event{
		EventKey:        "webhook.test",
		Namespace:       "default",
		TraceID:         traceID,
		ReceivedAt:      time.Now().UTC(),
		Payload:         json.RawMessage(`{"origin":"aGk="}`),
		PayloadType:     sluice.Base64,
		PayloadEncoding: sluice.EncodingBase64,
		Method:          "POST",
		Query:           map[string][]string{"a": {"1", "2"}},
		Headers:         sluice.Headers{{Name: "host", Value: "example.org"}},
		RemoteAddr:      "192.0.2.1",
	}
}

func wantKind(t *testing.T, err error, want sluice.Kind) {
	t.Helper()
	if err == nil || sluice.AsError(err).Kind != want {
		t.Fatalf("got error %v, want one of kind %s", err, want)
	}
}

func accept(t *testing.T, e *Engine, traceID string) (correlationID string) {
	t.Helper()
	result, err := acceptPatiently(t.Context(), e, event(traceID))
	if err != nil {
		t.Fatal(err)
	}
	return result.CorrelationID
}

func TestResultsAreFoundByTheirCorrelationID(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		const calls = 200
		ids := make([]string, calls)
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				result, err := e.Events.Accept(t.Context(), event(fmt.Sprintf("abcdef:%010d", i)), 0)
				if err != nil {
					t.Error(err)
				}
				ids[i] = result.CorrelationID
			})
		}
		all.Wait()
		e.Close()
		e = open() // results outlive the process
		for i, id := range ids {
			result, err := e.Results.Result(t.Context(), id, 0)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("abcdef:%010d", i); result.TraceID != want || result.CorrelationID != id {
				t.Fatalf("%s leads to call %s instead of %s", id, result.TraceID, want)
			}
		}
	})
}

func TestAnEventIsStoredAsItsMessage(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	want := event("abcdef:0123456789")
	accept(t, e, want.TraceID)
	msg, err := e.Stored.stream.GetLastMsgForSubject(t.Context(), "svc.event.webhook.test")
	if err != nil {
		t.Fatal(err)
	}
	var got sluice.Event
	if err := json.Unmarshal(msg.Data, &got); err != nil {
		t.Fatal(err)
	}
	want.ReceivedAt = got.ReceivedAt
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Errorf("the message is not the event (-want +got):\n%s", diff)
	}
}

func TestUnknownAndExpiredResultsAreGone(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), ResultTTL: time.Nanosecond})
	id := accept(t, e, "abcdef:0123456789")
	for name, asked := range map[string]string{
		"expired":          id,
		"malformed":        "x",
		"random":           "b82c8627-4ca1-8c7a-b273-2bfd67c02bcf",
		"another sequence": e.Stored.ids.ID(2, "abcdef:0123456789"),
		"another trace":    e.Stored.ids.ID(1, "abcdef:9876543210"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Results.Result(t.Context(), asked, 0)
			wantKind(t, err, sluice.Gone)
		})
	}
}
