package journal_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/journal"
	"sluice/jetstream/natstest"
	"sluice/limit"
)

// TestCallsAreFoundByATextInThem: part of a key, an id, an address, a code, or of
// what was sent in whichever encoding, finds the call, and nothing else.
func TestCallsAreFoundByATextInThem(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *jetstream.Engine, _ bool) {
		e := open()
		key, owner := natstest.UniqueKey("Sought"), owner()
		made := map[string]sluice.Call{}
		for name, sent := range map[string]struct {
			encoding sluice.Encoding
			payload  any
		}{
			"json":   {sluice.EncodingJSON, map[string]any{"customer": "Grace Hopper"}},
			"text":   {sluice.EncodingText, "the \"quoted\" line"},
			"base64": {sluice.EncodingBase64, map[string]string{"origin": base64.StdEncoding.EncodeToString([]byte("Ada Lovelace"))}},
			"file": {sluice.EncodingFiles, map[string]any{"files": []map[string]string{
				{"filename": "report.pdf", "origin": base64.StdEncoding.EncodeToString([]byte("binary Turing")), "encoding": "base64"},
			}}},
		} {
			payload, err := json.Marshal(sent.payload)
			if err != nil {
				t.Fatal(err)
			}
			ev := event(sluice.NewTraceID(owner, time.Now()))
			ev.EventKey, ev.Payload, ev.PayloadEncoding = key+"."+name, payload, sent.encoding
			result, err := e.Events.Accept(t.Context(), ev, 0)
			if err != nil {
				t.Fatal(err)
			}
			call := sluice.Call{
				Time: ev.ReceivedAt, TraceID: ev.TraceID, CorrelationID: result.CorrelationID, EventKey: ev.EventKey,
				Status: sluice.StatusOK, StatusCode: 200, RemoteAddr: "2001:db8::" + name[:1],
			}
			e.Journal.Hear(journal.Answered{Call: call})
			made[name] = call
		}
		no := refused(e, owner, "token-odd")
		search := func(text string, more sluice.TraceQuery) []sluice.Call {
			more.TraceID, more.Text = owner, text
			return find(t, e, more)
		}
		payloads := sluice.TraceQuery{InPayload: true}
		wantCalls(t, "a part of the key, in another case", search("sought", sluice.TraceQuery{}), []sluice.Call{made["json"], made["text"], made["base64"], made["file"]})
		wantCalls(t, "the end of the key", search(".BASE64", sluice.TraceQuery{}), []sluice.Call{made["base64"]})
		wantCalls(t, "a part of a trace id", search(no.TraceID[8:], sluice.TraceQuery{}), []sluice.Call{no})
		wantCalls(t, "an address", search("db8::t", sluice.TraceQuery{}), []sluice.Call{made["text"]})
		wantCalls(t, "a code", search("n-odd", sluice.TraceQuery{}), []sluice.Call{no})
		wantCalls(t, "a whole code", find(t, e, sluice.TraceQuery{TraceID: owner, Code: "token-odd"}), []sluice.Call{no})
		wantCalls(t, "a correlation id", search(made["json"].CorrelationID[4:], sluice.TraceQuery{}), []sluice.Call{made["json"]})
		wantCalls(t, "a correlation id that may not be known", search(made["json"].CorrelationID[4:], sluice.TraceQuery{Known: sluice.User{}.Cover(sluice.MaySeePayload)}), nil)
		wantCalls(t, "JSON", search("hopper", payloads), []sluice.Call{made["json"]})
		wantCalls(t, "JSON of one key", search("hopper", sluice.TraceQuery{InPayload: true, EventKey: key + ".json"}), []sluice.Call{made["json"]})
		wantCalls(t, "text", search(`"quoted"`, payloads), []sluice.Call{made["text"]})
		wantCalls(t, "bytes", search("lovelace", payloads), []sluice.Call{made["base64"]})
		wantCalls(t, "a file", search("turing", payloads), []sluice.Call{made["file"]})
		wantCalls(t, "a file's name", search("report.p", payloads), []sluice.Call{made["file"]})
		wantCalls(t, "a payload that is not asked for", search("hopper", sluice.TraceQuery{}), nil)
	})
}

// TestATextSearchSaysHowFarItCame: it stops in time, goes on where it was, and
// finds what is old in the end.
func TestATextSearchSaysHowFarItCame(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	key, owner := natstest.UniqueKey("many"), owner()
	begin := time.Now().Add(-time.Hour)
	old := called(t, e, owner, key+".needle", begin)
	for i := range 200 {
		called(t, e, owner, key, begin.Add(time.Duration(i)*time.Second))
	}
	q := sluice.TraceQuery{Text: "needle", Limit: 10}
	calls, next, err := e.Journal.Calls(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	wantCalls(t, "one page", calls, []sluice.Call{old})
	if next != "" {
		t.Errorf("it goes on at %s, though all was looked at", next)
	}
	_, next, err = e.Journal.Calls(t.Context(), sluice.TraceQuery{Text: key, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	reached, err := e.Journal.Reached(t.Context(), next)
	if err != nil || time.Since(reached) > time.Minute {
		t.Errorf("it has come to %v, %v", reached, err)
	}
	_, err = e.Journal.Reached(t.Context(), "elsewhere")
	wantKind(t, err, sluice.Invalid)
}

// TestSearchesInPayloadsShareTheirMemory: where there is none left, large events are
// not looked into, and small ones are.
func TestSearchesInPayloadsShareTheirMemory(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	const bytes = 1 << 20
	memory := limit.NewMemory(bytes, nil)
	e.Journal.BoundSearches(memory)
	send := func(text string) sluice.Call {
		ev := event(sluice.NewTraceID(owner(), time.Now()))
		ev.EventKey, ev.PayloadEncoding = natstest.UniqueKey("large"), sluice.EncodingJSON
		ev.Payload = json.RawMessage(`"` + text + ` needle"`)
		result, err := e.Events.Accept(t.Context(), ev, 0)
		if err != nil {
			t.Fatal(err)
		}
		call := sluice.Call{Time: ev.ReceivedAt, TraceID: ev.TraceID, CorrelationID: result.CorrelationID, EventKey: ev.EventKey, Status: sluice.StatusOK, Size: len(ev.Payload)}
		e.Journal.Hear(journal.Answered{Call: call})
		return call
	}
	large, small := send(strings.Repeat("x", bytes/2)), send("x")
	held := memory.Hold()
	if err := held.Grow(t.Context(), bytes); err != nil {
		t.Fatal(err)
	}
	q := sluice.TraceQuery{Text: "needle", InPayload: true, Limit: 10}
	calls, next, err := e.Journal.Calls(t.Context(), q)
	if err != nil || next == "" {
		t.Fatalf("without memory a search goes on at %q, %v; want the rest on the next page", next, err)
	}
	wantCalls(t, "without memory", calls, []sluice.Call{small})
	q.Before = next
	_, _, err = e.Journal.Calls(t.Context(), q)
	wantKind(t, err, sluice.Unavailable)
	held.Release()
	calls, _, err = e.Journal.Calls(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	wantCalls(t, "with memory", calls, []sluice.Call{large})
	if err := held.Grow(t.Context(), bytes); err != nil {
		t.Errorf("a search keeps memory: %v", err)
	}
}

// TestALateSearchStillLooksAtRefusedCalls: otherwise none of its pages would, where
// events take all of the time.
func TestALateSearchStillLooksAtRefusedCalls(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	no := refused(e, owner(), "token-odd")
	e.Journal.SetTextTime(-time.Second)
	calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{Text: "token-odd", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	wantCalls(t, "a late search", calls, []sluice.Call{no})
}
