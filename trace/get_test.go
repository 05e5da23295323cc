package trace_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/trace"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// A finder calls trace.get on a real engine.
type finder struct {
	*jetstream.Engine
	t    *testing.T
	seen []string
}

func open(t *testing.T) *finder {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &finder{Engine: e, t: t}
}

// accept stores an event and returns its trace id.
func (f *finder) accept(key string, encoding sluice.Encoding, payload string) string {
	f.t.Helper()
	now := time.Now()
	e := &sluice.Event{
		EventKey: key, TraceID: sluice.NewTraceID("abcdef", now), ReceivedAt: now, Payload: json.RawMessage(payload),
		PayloadType: sluice.Raw, PayloadEncoding: encoding, Method: "POST", ContentType: "text/plain",
	}
	if _, err := f.Events.Accept(f.t.Context(), e, 0); err != nil {
		f.t.Fatal(err)
	}
	return e.TraceID
}

func (f *finder) get(permissions []string, pairs ...string) (sluice.TraceAnswer, error) {
	set := command.NewSet(func(context.Context, sluice.AuditEntry) {}, trace.Commands(trace.Options{
		Journal: f.Journal, Results: f.Results,
		Seen: func(_ context.Context, _, target string) { f.seen = append(f.seen, target) },
	}))
	cmd, _ := set.Find("trace.get")
	var args command.Args
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, command.Arg{Name: pairs[i], Value: command.Text(pairs[i+1])})
	}
	out, err := set.Call(sluice.WithUser(f.t.Context(), sluice.User{Permissions: permissions}), cmd, args)
	found, _ := out.(sluice.TraceAnswer)
	return found, err
}

// TestPagesOfCalls: newest first, page by page, each call once.
func TestPagesOfCalls(t *testing.T) {
	f := open(t)
	for range 5 {
		f.accept("webhook.a", sluice.EncodingJSON, `1`)
	}
	f.accept("webhook.b", sluice.EncodingJSON, `2`)
	after, seen := "", map[string]bool{}
	for pages := 1; ; pages++ {
		found, err := f.get([]string{sluice.MayRead}, "eventKey", "webhook.a", "limit", "2", "after", after)
		if err != nil || len(found.Items) > 2 || pages > 5 {
			t.Fatalf("page %d has %d calls: %v", pages, len(found.Items), err)
		}
		for _, c := range found.Items {
			if c.EventKey != "webhook.a" || seen[c.TraceID] {
				t.Errorf("%s of %s is found again, or should not be", c.TraceID, c.EventKey)
			}
			seen[c.TraceID] = true
		}
		if after = found.Next; after == "" {
			break
		}
	}
	if len(seen) != 5 {
		t.Errorf("found %d calls, want 5", len(seen))
	}
	found, err := f.get([]string{sluice.MayRead}, "facets", "true")
	if err != nil || found.Facets == nil || found.Facets.Calls != 6 || found.Facets.Webhooks[0] != (sluice.Facet{Value: "webhook.a", Count: 5}) {
		t.Errorf("the counts are %+v, %v", found.Facets, err)
	}
}

// TestWhoSeesPayloads: users who may, of the call with a whole trace id; that they
// have seen it is told.
func TestWhoSeesPayloads(t *testing.T) {
	f := open(t)
	id := f.accept("webhook.a", sluice.EncodingJSON, `{"secret":1}`)
	for _, test := range []struct {
		permissions []string
		traceID     string
		sees        bool
	}{
		{[]string{sluice.MayRead}, id, false},
		{[]string{sluice.MayRead, sluice.MaySeePayload}, "abcdef", false},
		{[]string{sluice.MayRead, sluice.MaySeePayload}, id, true},
	} {
		f.seen = nil
		found, err := f.get(test.permissions, "traceId", test.traceID)
		if err != nil || len(found.Items) != 1 {
			t.Fatalf("found %d calls: %v", len(found.Items), err)
		}
		c := found.Items[0]
		if sees := string(c.Payload) == `{"secret":1}`; sees != test.sees || (len(f.seen) > 0) != test.sees {
			t.Errorf("%v with %s: payload %s, told of %v", test.permissions, test.traceID, c.Payload, f.seen)
		}
		if knows := c.CorrelationID != ""; knows != (len(test.permissions) > 1) {
			t.Errorf("%v: correlation id %q", test.permissions, c.CorrelationID)
		}
	}
	if _, err := f.get([]string{sluice.MayRead}, "search", "x", "payloads", "true"); sluice.AsError(err).Kind != sluice.Forbidden {
		t.Errorf("a search in payloads: %v", err)
	}
}

// TestBytesAreShownAsWhatTheyAre: with their size and type, and themselves only if
// they are few.
func TestBytesAreShownAsWhatTheyAre(t *testing.T) {
	f := open(t)
	id := f.accept("webhook.a", sluice.EncodingBase64, `{"origin":"aGVsbG8="}`)
	found, err := f.get([]string{"*"}, "traceId", id)
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("found %d calls: %v", len(found.Items), err)
	}
	var shown sluice.Binary
	if err := json.Unmarshal(found.Items[0].Payload, &shown); err != nil || shown != (sluice.Binary{Size: 5, Type: "text/plain", Origin: "aGVsbG8="}) {
		t.Errorf("shown as %+v, %v", shown, err)
	}
}

// TestAWholeIDIsFoundBySearch: a trace id, and a correlation id by users who may know
// it.
func TestFieldsOfAFormAreShown(t *testing.T) {
	f := open(t)
	id := f.accept("webhook.a", sluice.EncodingFiles, `{"files":[{"filename":"a.txt","contentType":"text/plain","origin":"hi","encoding":"text"}],"fields":{"b":"1","a":["2","3"]}}`)
	found, err := f.get([]string{"*"}, "traceId", id)
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("found %d calls: %v", len(found.Items), err)
	}
	want := `{"files":[{"filename":"a.txt","size":2,"type":"text/plain","origin":"hi"}],"fields":{"b":"1","a":["2","3"]}}`
	if got := string(found.Items[0].Payload); got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
}

func TestAWholeIDIsFoundBySearch(t *testing.T) {
	f := open(t)
	id := f.accept("webhook.a", sluice.EncodingJSON, `1`)
	f.accept("webhook.a", sluice.EncodingJSON, `2`)
	found, err := f.get([]string{"*"}, "search", id)
	if err != nil || len(found.Items) != 1 || found.Items[0].TraceID != id {
		t.Fatalf("by its trace id: %d calls, %v", len(found.Items), err)
	}
	found, err = f.get([]string{"*"}, "search", found.Items[0].CorrelationID)
	if err != nil || len(found.Items) != 1 || found.Items[0].TraceID != id {
		t.Errorf("by its correlation id: %d calls, %v", len(found.Items), err)
	}
	if _, err := f.get([]string{"*"}, "traceId", "no trace id"); sluice.AsError(err).Kind != sluice.Invalid {
		t.Errorf("what is no trace id: %v", err)
	}
}

// TestQueriesAreChecked: what is wrong is named.
func TestQueriesAreChecked(t *testing.T) {
	f := open(t)
	for _, test := range []struct {
		pairs     []string
		parameter string
	}{
		{[]string{"traceId", "../../x"}, "traceId"},
		{[]string{"traceId", "abc123:"}, "traceId"},
		{[]string{"traceId", "00000000-0000-4000-8000-000000000000"}, "traceId"},
		{[]string{"from", "yesterday"}, "from"},
		{[]string{"to", "1"}, "to"},
		{[]string{"from", "2030-01-02T00:00:00Z", "to", "2030-01-01T00:00:00Z"}, "to"},
		{[]string{"status", "done"}, "status"},
		{[]string{"limit", "0"}, "limit"},
		{[]string{"limit", "1001"}, "limit"},
		{[]string{"after", "x"}, "after"},
		{[]string{"search", strings.Repeat("x", 201)}, "search"},
	} {
		_, err := f.get([]string{"*"}, test.pairs...)
		if e := sluice.AsError(err); e.Kind != sluice.Invalid || e.Parameter != test.parameter {
			t.Errorf("%q: %v, which blames %q", test.pairs, err, e.Parameter)
		}
	}
}
