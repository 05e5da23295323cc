package serve_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
)

// sendersSecret can be the signing secret of any sender.
const sendersSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// startMissed runs a server with a webhook whose sender is a fake one.
func startMissed(t *testing.T, provider string, more ...any) (*service, *fakeSender) {
	t.Helper()
	authorization := "Bearer t0ken"
	apiSecret := "t0ken"
	if provider == "paypal" {
		authorization, apiSecret = "Bearer issued", "client:t0ken"
	}
	f := newFakeSender(t, authorization)
	f.secret = sendersSecret
	var certificate []byte
	f.key, certificate = paypalCertificate(t)
	s := startWith(t, func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(certificate)), Request: r}, nil
	}, "http-allow=127.0.0.0/8")
	f.call = s.client.Do
	f.hook = s.create("webhook."+provider, append([]any{"provider", provider, "signingSecret", sendersSecret, "payloadType", "raw", "dedupeWindow", "1s", "apiSecret", apiSecret, "apiUrl", fakes[provider](f)}, more...)...)
	return s, f
}

// says lets the fake sender say that it has sent deliveries, the newest first.
func (f *fakeSender) says(sent ...sentOnce) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = sent
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

// states returns what became of deliveries, by id.
func states(t *testing.T, a answer) (sluice.Missed, map[string]string) {
	t.Helper()
	var found sluice.Missed
	a.wantStatus(t, http.StatusOK).into(t, &found)
	by := make(map[string]string)
	for _, item := range found.Items {
		by[item.ID] = item.State
	}
	if found.Asked != found.Had+found.Missed || len(by) != found.Asked || len(found.Items) != found.Asked {
		t.Errorf("the figures don't fit together: %+v", found)
	}
	return found, by
}

// TestMissed: each sender is asked page by page, and what is missing comes in, once, through
// the checks of any call; also if it was accepted longer ago than ids are remembered.
func TestMissed(t *testing.T) {
	t.Parallel()
	for provider := range fakes {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			s, f := startMissed(t, provider)
			now := time.Now().Add(-time.Minute)
			at := func(i int, gone bool) sentOnce {
				return sentOnce{id: fmt.Sprintf("id-%d", i), ref: fmt.Sprint(100 + i), kind: "wanted", at: now.Add(-time.Duration(i) * time.Minute), gone: gone}
			}
			if slices.Contains([]string{"paypal", "svix"}, provider) { // they know deliveries by their ids
				plain := at
				at = func(i int, gone bool) sentOnce { d := plain(i, gone); d.ref = d.id; return d }
			}
			gone := provider != "square" // whose list has the events themselves
			sent := []sentOnce{at(0, false), at(1, false), at(2, gone), at(3, false)}
			if slices.Contains([]string{"paypal", "square", "stripe"}, provider) {
				sent = append(sent, sentOnce{id: "unwanted", ref: "unwanted", kind: "other", at: now}) // not subscribed to
			}
			if provider == "github" {
				again := at(0, false)
				again.ref = "99"
				sent = append([]sentOnce{again}, sent...) // sent twice
			}
			f.says(append(sent, sentOnce{id: "old", ref: "old", kind: "wanted", at: now.Add(-48 * time.Hour)})...)

			found, by := states(t, s.missed(provider, "dryRun", true))
			if found.Asked != 4 || found.Missed != 4 || by["id-0"] != sluice.MissedStill {
				t.Fatalf("a dry run finds %+v", found)
			}
			done := sluice.MissedRedelivered
			if provider == "stripe" || provider == "square" {
				done = sluice.MissedFetched
			}
			want := map[string]string{"id-0": done, "id-1": done, "id-2": done, "id-3": done}
			if gone {
				want["id-2"] = sluice.MissedGone
			}
			if _, by = states(t, s.missed(provider)); fmt.Sprint(by) != fmt.Sprint(want) {
				t.Fatalf("it was %v, want %v", by, want)
			}
			for id, state := range want {
				if want[id] = sluice.MissedHad; state == sluice.MissedGone {
					want[id] = state
				}
			}
			if _, by = states(t, s.missed(provider)); fmt.Sprint(by) != fmt.Sprint(want) {
				t.Errorf("the next time it was %v, want %v", by, want)
			}
			stored := 0
			for _, e := range s.events() {
				if stored++; e.EventKey != "webhook."+provider || !strings.Contains(string(e.Payload), `"id":"id-`) {
					t.Errorf("stored is %s", e.data)
				}
			}
			if wanted := map[bool]int{true: 3, false: 4}[gone]; stored != wanted {
				t.Errorf("%d events are stored, want %d", stored, wanted)
			}
		})
	}
}

// TestMissedRefusals: limits of a sender are passed on, or kept if they are short; what it
// refuses is told without the credential.
func TestMissedRefusals(t *testing.T) {
	t.Parallel()
	for provider := range fakes {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			s, f := startMissed(t, provider)
			f.says(sentOnce{id: "a", ref: "a", kind: "wanted", at: time.Now().Add(-time.Minute)})
			refusing := func(refuse func(w http.ResponseWriter) bool) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.refuse = func(w http.ResponseWriter, _ *http.Request) bool { return refuse(w) }
			}
			refusing(func(w http.ResponseWriter) bool {
				w.Header().Set("Retry-After", "77")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			})
			limited := s.missed(provider)
			limited.wantProblem(t, http.StatusTooManyRequests, "sender-limits")
			if got := limited.header.Get("Retry-After"); got != "77" {
				t.Errorf("Retry-After is %q", got)
			}
			times := 0
			refusing(func(w http.ResponseWriter) bool {
				if times++; times > 1 {
					return false
				}
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			})
			if found, _ := states(t, s.missed(provider, "dryRun", true)); found.Missed != 1 || times < 2 {
				t.Errorf("after a short pause: %+v", found)
			}
			for name, refuse := range map[string]func(w http.ResponseWriter) bool{
				"500":        func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusInternalServerError); return true },
				"no JSON":    func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, "<html>"); return true },
				"a redirect": func(w http.ResponseWriter) bool { w.Header().Set("Location", "/"); w.WriteHeader(302); return true },
				"no hook":    func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusNotFound); return true },
			} {
				refusing(refuse)
				refused := s.missed(provider)
				if refused.wantProblem(t, http.StatusBadGateway, "sender-refuses"); strings.Contains(string(refused.body), "t0ken") {
					t.Errorf("%s: it tells the credential: %s", name, refused.body)
				}
			}
			refusing(func(http.ResponseWriter) bool { return false })
			s.command("webhook.put", map[string]any{"uuid": f.hook.UUID, "apiSecret": "client:wrong-secret"}).wantStatus(t, http.StatusOK)
			refused := s.missed(provider)
			refused.wantProblem(t, http.StatusBadGateway, "sender-refuses")
			if strings.Contains(string(refused.body), "wrong-secret") || strings.Contains(s.log.String(), "wrong-secret") {
				t.Errorf("the credential is told: %s", refused.body)
			}
		})
	}
}

// TestMissedSettings: what is missing for it is named, and the stored credential goes to no
// other server than the one it was entered for.
func TestMissedSettings(t *testing.T) {
	t.Parallel()
	s, f := startMissed(t, "github")
	put := func(name string, value any) answer {
		return s.command("webhook.put", map[string]any{"uuid": f.hook.UUID, name: value})
	}
	for name, value := range map[string]string{"missedEvery": "30s", "apiUrl": "ftp://example.com/", "apiSecret": "two\nlines"} {
		if problem := put(name, value).wantProblem(t, http.StatusBadRequest, "parameter-invalid"); problem["parameter"] != name {
			t.Errorf("%s: the parameter is %v", name, problem["parameter"])
		}
	}
	if problem := put("apiUrl", "https://evil.example.com/hooks/1").wantProblem(t, http.StatusBadRequest, "parameter-invalid"); problem["parameter"] != "apiSecret" {
		t.Errorf("the parameter is %v", problem["parameter"])
	}
	shown := put("missedEvery", "1h").wantStatus(t, http.StatusOK).object(t)
	if shown["missedEvery"] != "1h" || shown["apiUrl"] != f.server.URL+"/repos/o/r/hooks/1" || shown["apiSecret"] != nil {
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
	s.create("webhook.slack", "provider", "slack", "signingSecret", "a secret of Slack's")
	if problem := s.missed("slack").wantProblem(t, http.StatusBadRequest, "parameter-invalid"); !strings.Contains(fmt.Sprint(problem["detail"]), "github, gitlab, paddle, paypal, square, stripe, svix") {
		t.Errorf("it says %v", problem["detail"])
	}
	s.missed("unknown").wantProblem(t, http.StatusNotFound, "webhook-not-found")
	s.missed("github", "from", "2026-01-02T00:00:00Z", "to", "2026-01-01T00:00:00Z").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	// Plain HTTP only where the operator names the network.
	elsewhere := start(t)
	hook := elsewhere.create("webhook.github", "provider", "github", "signingSecret", sendersSecret, "apiUrl", f.server.URL+"/repos/o/r/hooks/1", "apiSecret", "t0ken")
	elsewhere.command("webhook.missed", map[string]any{"eventKey": hook.EventKey}).wantProblem(t, http.StatusBadGateway, "sender-refuses")
}

// TestMissedChecks: a fetched event must meet the schema and the largest length, and a
// stored secret can be the credential.
func TestMissedChecks(t *testing.T) {
	t.Parallel()
	s, f := startMissed(t, "stripe", "schema", `{"required":["never"]}`)
	s.command("secret.put", map[string]any{"name": "stripe", "value": "t0ken"}).wantStatus(t, http.StatusOK)
	s.command("webhook.put", map[string]any{"uuid": f.hook.UUID, "apiSecret": "secret:stripe"}).wantStatus(t, http.StatusOK)
	f.says(sentOnce{id: "evt_1", ref: "evt_1", kind: "wanted", at: time.Now().Add(-time.Minute)})
	if _, by := states(t, s.missed("stripe")); by["evt_1"] != sluice.MissedStill {
		t.Errorf("against the schema it is %v", by)
	}
	s.command("webhook.put", map[string]any{"uuid": f.hook.UUID, "schema": nil, "maxPayloadLength": 10}).wantStatus(t, http.StatusOK)
	if _, by := states(t, s.missed("stripe")); by["evt_1"] != sluice.MissedStill {
		t.Errorf("too long it is %v", by)
	}
	s.command("webhook.put", map[string]any{"uuid": f.hook.UUID, "maxPayloadLength": 1000}).wantStatus(t, http.StatusOK)
	if _, by := states(t, s.missed("stripe")); by["evt_1"] != sluice.MissedFetched {
		t.Errorf("it is %v", by)
	}
}
