package serve_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestTracesAreSearchedByText: what users know of a call finds it. Who may not see
// payloads can't find out by searching what is in them, nor a correlation id.
func TestTracesAreSearchedByText(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	lead, order := s.create("webhook.lead.created", "payloadType", "raw"), s.create("webhook.order.paid")
	s.send("PUT", "/api/v3/pipeline/picky", strings.NewReader("pipeline:\n  - event.listen: {eventKey: webhook.lead.created}\n  - assert: {\"true\": \"#{body.payload.ok}\", message: Not today.}\n"), asAdmin).wantStatus(t, http.StatusOK)
	s.call(lead, "application/json", `{"ok":false,"name":"Grace Hopper"}`).wantStatus(t, http.StatusOK)
	s.call(order, "text/plain", "Ada Lovelace").wantStatus(t, http.StatusOK)
	found := s.traces()
	if len(found) != 2 {
		t.Fatalf("there are %d calls", len(found))
	}
	paid, created := found[0], found[1]
	for _, test := range []struct{ search, payloads, want string }{
		{"LEAD", "false", created.TraceID},
		{"not today", "false", created.TraceID},
		{"picky", "false", created.TraceID},
		{paid.TraceID, "false", paid.TraceID},
		{paid.CorrelationID, "false", paid.TraceID},
		{strings.ToUpper(paid.CorrelationID[:20]), "false", paid.TraceID},
		{"hopper", "true", created.TraceID},
		{"lovelace", "true", paid.TraceID},
		{"hopper", "false", ""},
	} {
		got := ""
		for _, c := range s.traces("search", test.search, "payloads", test.payloads) {
			got += c.TraceID
		}
		if got != test.want {
			t.Errorf("%q finds %q, want %q", test.search, got, test.want)
		}
	}
	if got := s.traces("code", "assertion-failed"); len(got) != 1 || got[0].TraceID != created.TraceID {
		t.Errorf("the code finds %v", got)
	}
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "correct horse 2", "roles": "viewer"}).wantStatus(t, http.StatusOK)
	asVera := func(r *http.Request) { r.SetBasicAuth("vera", "correct horse 2") }
	search := func(text, more string) answer {
		return s.send("GET", "/api/v3/command/trace.get?search="+url.QueryEscape(text)+more, nil, asVera)
	}
	search("hopper", "&payloads=true").wantProblem(t, http.StatusForbidden, "forbidden")
	for _, part := range []string{paid.CorrelationID, paid.CorrelationID[:12]} {
		var page struct{ Items []trace }
		if search(part, "").wantStatus(t, http.StatusOK).into(t, &page); len(page.Items) != 0 {
			t.Errorf("a viewer finds a call by %q", part)
		}
	}
	search(strings.Repeat("x", 201), "").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
}

// TestFacets: the calls of a search are counted by what they can be narrowed to.
func TestFacets(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	a, b := s.create("webhook.a"), s.create("webhook.b")
	s.send("PUT", "/api/v3/pipeline/no", strings.NewReader("retry: {times: 1, backoff: 10ms}\npipeline:\n  - event.listen: {eventKey: webhook.a}\n  - fail: {message: no, statusCode: 503}\n"), asAdmin).wantStatus(t, http.StatusOK)
	s.call(a, "text/plain", "x")
	s.call(b, "text/plain", "x")
	s.call(b, "text/plain", "x")
	s.call(hook{UUID: unknownToken}, "text/plain", "x")
	type counts []struct {
		Value string
		Count int
	}
	var page struct {
		Facets struct {
			Calls                                int
			Webhooks, Pipelines, Statuses, Codes counts
		}
	}
	s.send("GET", "/api/v3/command/trace.get?facets=true&limit=1", nil, asAdmin).wantStatus(t, http.StatusOK).into(t, &page)
	f := page.Facets
	if f.Calls != 4 || len(f.Webhooks) != 2 || f.Webhooks[0].Value != "webhook.b" || f.Webhooks[0].Count != 2 || len(f.Pipelines) != 1 || f.Pipelines[0].Count != 1 {
		t.Errorf("the counts are %+v", f)
	}
	if len(f.Statuses) != 3 || len(f.Codes) != 2 {
		t.Errorf("by status and code they are %+v", f)
	}
}

// TestSign: a call that is made for a webhook is taken by it, for who may see its
// token.
func TestSign(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.signed", "provider", "github", "signingSecret", "a secret of twenty characters")
	var made struct {
		URL, Body string
		Headers   map[string]string
	}
	s.send("POST", "/api/v3/command/webhook.sign?eventKey=webhook.signed", strings.NewReader(`{"a":1}`), asAdmin).wantStatus(t, http.StatusOK).into(t, &made)
	if !strings.HasSuffix(made.URL, "token="+h.UUID) || made.Headers["X-Hub-Signature-256"] == "" {
		t.Fatalf("the call is %+v", made)
	}
	s.send("POST", receivePath+"?token="+h.UUID, strings.NewReader(made.Body), func(r *http.Request) {
		for name, value := range made.Headers {
			r.Header.Set(name, value)
		}
	}).wantStatus(t, http.StatusOK)
	s.command("iam.role.put", map[string]any{"role": "signer", "permissions": "webhook.sign"}).wantStatus(t, http.StatusOK)
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "correct horse 2", "roles": "signer"}).wantStatus(t, http.StatusOK)
	s.send("POST", "/api/v3/command/webhook.sign?eventKey=webhook.signed", strings.NewReader("x"), func(r *http.Request) { r.SetBasicAuth("vera", "correct horse 2") }).wantProblem(t, http.StatusForbidden, "forbidden")
	s.command("webhook.put", map[string]any{"eventKey": "webhook.discord", "provider": "discord", "signingSecret": strings.Repeat("ab", 32)}).wantStatus(t, http.StatusOK)
	s.send("POST", "/api/v3/command/webhook.sign?eventKey=webhook.discord", strings.NewReader("x"), asAdmin).wantProblem(t, http.StatusBadRequest, "not-signable")
}
