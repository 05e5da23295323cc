package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice"
)

// startMissed runs a server with a webhook whose sender has an API that says it has sent one
// delivery: GitHub's sends it again, Stripe's has the event. Other senders are in the tests of missed.
func startMissed(t *testing.T, provider string, more ...any) (s *service, h hook, apiURL string) {
	t.Helper()
	const body = `{"id":"id-1"}`
	mux := http.NewServeMux()
	reply := func(pattern, format string, values ...any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer t0ken" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			fmt.Fprintf(w, format, values...)
		})
	}
	at := time.Now().Add(-time.Minute)
	reply("GET /hooks/1/deliveries", `[{"id":7,"guid":"id-1","delivered_at":%q}]`, at.UTC().Format(time.RFC3339))
	reply("GET /v1/webhook_endpoints/we_1", `{"enabled_events":["*"]}`)
	reply("GET /v1/events", `{"data":[{"id":"id-1","type":"a","created":%d}]}`, at.Unix())
	reply("GET /v1/events/id-1", "%s", body)
	mux.HandleFunc("POST /hooks/1/deliveries/7/attempts", func(w http.ResponseWriter, _ *http.Request) {
		signed := header("X-Hub-Signature-256", "sha256="+hexMAC("s3cret", body))
		if got := s.call(h, "application/json", body, header("X-GitHub-Delivery", "id-1"), signed); got.status != http.StatusOK {
			t.Errorf("the redelivery was answered %s", got)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	api := httptest.NewServer(mux)
	t.Cleanup(api.Close)
	apiURL = api.URL + map[string]string{"github": "/hooks/1", "stripe": "/v1/webhook_endpoints/we_1"}[provider]
	s = start(t, "http-allow=127.0.0.0/8")
	h = s.create("webhook."+provider, append([]any{
		"provider", provider, "signingSecret", "s3cret", "payloadType", "raw", "dedupeWindow", "1s", "apiSecret", "t0ken", "apiUrl", apiURL,
	}, more...)...)
	return s, h, apiURL
}

// missed asks for what was missed.
func (s *service) missed(provider string, more ...any) answer {
	s.t.Helper()
	params := map[string]any{"eventKey": "webhook." + provider}
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return s.command("webhook.missed", params)
}

// state returns what became of the delivery.
func (a answer) state(t *testing.T) string {
	t.Helper()
	var found sluice.Missed
	if a.wantStatus(t, http.StatusOK).into(t, &found); len(found.Items) != 1 || found.Items[0].ID != "id-1" {
		t.Fatalf("found is %+v", found)
	}
	return found.Items[0].State
}

// TestMissed: what is missing comes in, once, through the checks of any call; also if it was
// accepted longer ago than ids are remembered.
func TestMissed(t *testing.T) {
	t.Parallel()
	for provider, done := range map[string]string{"github": sluice.MissedRedelivered, "stripe": sluice.MissedFetched} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			s, h, _ := startMissed(t, provider)
			for _, want := range []string{done, sluice.MissedHad} {
				if got := s.missed(provider).state(t); got != want {
					t.Errorf("it was %s, want %s", got, want)
				}
			}
			s.command("webhook.put", map[string]any{"uuid": h.UUID, "apiSecret": "wrong-secret"}).wantStatus(t, http.StatusOK)
			refused := s.missed(provider)
			refused.wantProblem(t, http.StatusBadGateway, "sender-refuses")
			if strings.Contains(string(refused.body), "wrong-secret") || strings.Contains(s.log.String(), "wrong-secret") {
				t.Errorf("the credential is told: %s", refused.body)
			}
			events := s.events()
			for _, e := range events {
				if e.EventKey != h.EventKey || !strings.Contains(string(e.Payload), `"id":"id-1"`) {
					t.Errorf("stored is %s", e.data)
				}
			}
			if len(events) != 1 {
				t.Errorf("%d events are stored, want 1", len(events))
			}
		})
	}
}

// TestMissedSettings: what is missing for it is named, and the stored credential goes to no
// other server than the one it was entered for.
func TestMissedSettings(t *testing.T) {
	t.Parallel()
	s, h, apiURL := startMissed(t, "github")
	put := func(name string, value any) answer {
		return s.command("webhook.put", map[string]any{"uuid": h.UUID, name: value})
	}
	for name, value := range map[string]string{"missedEvery": "30s", "apiUrl": "ftp://example.com/", "apiSecret": "two\nlines"} {
		if problem := put(name, value).wantProblem(t, http.StatusBadRequest, "parameter-invalid"); problem["parameter"] != name {
			t.Errorf("%s: the parameter is %v", name, problem["parameter"])
		}
	}
	if problem := put("apiUrl", "https://evil.example.com/hooks/1").wantProblem(t, http.StatusBadRequest, "parameter-invalid"); problem["parameter"] != "apiSecret" {
		t.Errorf("the parameter is %v", problem["parameter"])
	}
	put("apiUrl", "").wantStatus(t, http.StatusOK) // in two edits it goes there as little
	put("apiUrl", "https://evil.example.com/hooks/1").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	put("apiUrl", apiURL).wantStatus(t, http.StatusOK)
	shown := put("missedEvery", "1h").wantStatus(t, http.StatusOK).object(t)
	if shown["missedEvery"] != "1h" || shown["apiUrl"] != apiURL || shown["apiSecret"] != nil {
		t.Errorf("the webhook is %v", shown)
	}
	put("apiSecret", "").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	put("missedEvery", "").wantStatus(t, http.StatusOK)
	for _, name := range []string{"apiSecret", "apiUrl"} {
		put(name, "").wantStatus(t, http.StatusOK)
		if problem := s.missed("github").wantProblem(t, http.StatusBadRequest, "parameter-invalid"); problem["parameter"] != name {
			t.Errorf("the parameter is %v, want %s", problem["parameter"], name)
		}
	}
	put("apiSecret", "t0ken").wantStatus(t, http.StatusOK) // for no server yet
	put("apiUrl", apiURL).wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	s.create("webhook.slack", "provider", "slack", "signingSecret", "a secret of Slack's")
	if problem := s.missed("slack").wantProblem(t, http.StatusBadRequest, "parameter-invalid"); !strings.Contains(fmt.Sprint(problem["detail"]), "github, gitlab, paddle, paypal, square, stripe, svix") {
		t.Errorf("it says %v", problem["detail"])
	}
	s.missed("unknown").wantProblem(t, http.StatusNotFound, "webhook-not-found")
	s.missed("github", "from", "2026-01-02T00:00:00Z", "to", "2026-01-01T00:00:00Z").wantProblem(t, http.StatusBadRequest, "parameter-invalid")

	// Plain HTTP only where the operator names the network.
	elsewhere := start(t)
	hook := elsewhere.create("webhook.github", "provider", "github", "signingSecret", "s3cret", "apiUrl", apiURL, "apiSecret", "t0ken")
	elsewhere.command("webhook.missed", map[string]any{"eventKey": hook.EventKey}).wantProblem(t, http.StatusForbidden, "address-refused")
}

// TestMissedChecks: a fetched event must meet the schema and the largest length, and a
// stored secret can be the credential.
func TestMissedChecks(t *testing.T) {
	t.Parallel()
	s, h, _ := startMissed(t, "stripe", "schema", `{"required":["never"]}`)
	s.command("secret.put", map[string]any{"name": "stripe", "value": "t0ken"}).wantStatus(t, http.StatusOK)
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "apiSecret": "secret:stripe"}).wantStatus(t, http.StatusOK)
	if by := s.missed("stripe").state(t); by != sluice.MissedStill {
		t.Errorf("against the schema it is %v", by)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "schema": nil, "maxPayloadLength": 10}).wantStatus(t, http.StatusOK)
	if by := s.missed("stripe").state(t); by != sluice.MissedStill {
		t.Errorf("too long it is %v", by)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "maxPayloadLength": 1000}).wantStatus(t, http.StatusOK)
	if by := s.missed("stripe").state(t); by != sluice.MissedFetched {
		t.Errorf("it is %v", by)
	}
}
