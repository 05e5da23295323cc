package missed_test

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/journal"
	"sluice/missed"
	"sluice/sender"
)

// sendersSecret can be the signing secret of any sender.
const sendersSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// A desk asks a fake sender, which redelivers to it: it checks signatures and finds delivery
// ids as the sender's preset says, and stores what is right in a real engine.
type desk struct {
	*jetstream.Engine
	*fakeSender
	t        *testing.T
	webhook  sluice.Webhook
	verifier *sender.Verifier
	ids      sender.Dedupe
	set      command.Set
	log      bytes.Buffer
	refuses  error // what fetched events are refused with
	stored   atomic.Int64
}

// certificates gives the same certificate to whoever asks.
type certificates []byte

func (c certificates) Get(context.Context, string, time.Duration) ([]byte, error) { return c, nil }

func openDesk(t *testing.T, provider string) *desk {
	t.Helper()
	d := &desk{Engine: openEngine(t), t: t}
	kind := provider // of the API
	provider, _, _ = strings.Cut(kind, " ")
	key, certificate := paypalCertificate(t)
	apiSecret, authorized := "t0ken", func(authorization string) bool { return authorization == "Bearer t0ken" }
	switch kind {
	case "paypal":
		apiSecret, authorized = "client:t0ken", func(authorization string) bool { return authorization == "Bearer issued" }
	case "github app":
		apiSecret, authorized = "4711:"+keyInPEM(key), func(authorization string) bool { return isAppToken(&key.PublicKey, authorization) }
	}
	d.fakeSender = newFakeSender(t, authorized)
	d.secret, d.key = sendersSecret, key
	preset, _ := sender.Find(provider)
	var err error
	if d.verifier, err = sender.New(preset, []string{sendersSecret}, certificates(certificate)); err != nil {
		t.Fatal(err)
	}
	if d.ids, err = sender.ParseDedupe(preset.Dedupe); err != nil {
		t.Fatal(err)
	}
	door := httptest.NewServer(http.HandlerFunc(d.receive))
	t.Cleanup(door.Close)
	d.calls = door.URL
	d.webhook = sluice.Webhook{
		UUID: "a-token", EventKey: "webhook." + provider,
		Settings: sluice.Settings[time.Duration]{APIURL: fakes[kind](d.fakeSender), APISecret: apiSecret},
		Trust:    &sluice.Trust{Provider: provider},
	}
	finder := missed.New(missed.Options{
		Webhook: func(eventKey string) (sluice.Webhook, error) {
			if eventKey != d.webhook.EventKey {
				return sluice.Webhook{}, sluice.CodeWebhookNotFound.Errorf("There is no such webhook.")
			}
			return d.webhook, nil
		},
		Journal: d.Journal, Runs: d.Missed, Plain: http.DefaultTransport,
		Secret: func(_ context.Context, name string) (string, error) {
			return map[string]string{"stored": apiSecret}[name], nil
		},
		Accept: func(ctx context.Context, _ sluice.Webhook, body []byte) (sluice.Result, error) {
			if d.refuses != nil {
				return sluice.Result{}, d.refuses
			}
			return d.store(ctx, &sender.Call{Method: http.MethodPost, Body: body})
		},
		Log: slog.New(slog.NewTextHandler(&d.log, nil)),
	})
	d.set = command.NewSet(func(context.Context, sluice.AuditEntry) {},
		missed.Commands(finder, func(context.Context, string, string) error { return nil }))
	return d
}

// receive takes a redelivery.
func (d *desk) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.t.Error(err)
		return
	}
	call := &sender.Call{Method: r.Method, URL: d.calls, Header: r.Header, Body: body}
	if err := d.verifier.Verify(r.Context(), call, time.Now()); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if _, err := d.store(r.Context(), call); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// store makes an event of a call.
func (d *desk) store(ctx context.Context, call *sender.Call) (sluice.Result, error) {
	id, err := d.ids.ID(call)
	if err != nil {
		return sluice.Result{}, err
	}
	d.stored.Add(1)
	now := time.Now().UTC()
	traceID := sluice.NewTraceID("abcdef", now)
	result, err := d.Events.Accept(ctx, &sluice.Event{
		EventKey: d.webhook.EventKey, TraceID: traceID, ReceivedAt: now, DeliveryID: id, Method: call.Method,
		Payload: json.RawMessage(call.Body), PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingJSON,
	}, 0)
	if err == nil {
		d.Journal.Hear(journal.Answered{Call: sluice.Call{
			EventKey: d.webhook.EventKey, TraceID: traceID, CorrelationID: result.CorrelationID, DeliveryID: id, Time: now,
		}})
	}
	return result, err
}

// ask calls webhook.missed; parameters come as name, value, name, value.
func (d *desk) ask(pairs ...string) (sluice.Missed, error) {
	cmd, _ := d.set.Find("webhook.missed")
	args := command.Args{{Name: "eventKey", Value: d.webhook.EventKey}}
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, command.Arg{Name: pairs[i], Value: command.Text(pairs[i+1])})
	}
	out, err := d.set.Call(sluice.WithUser(d.t.Context(), sluice.User{Permissions: []string{"*"}}), cmd, args)
	found, _ := out.(sluice.Missed)
	return found, err
}

// states asks, and returns what became of deliveries, by id.
func (d *desk) states(pairs ...string) (sluice.Missed, map[string]string) {
	d.t.Helper()
	found, err := d.ask(pairs...)
	if err != nil {
		d.t.Fatal(err)
	}
	by := make(map[string]string)
	for _, item := range found.Items {
		by[item.ID] = item.State
	}
	if found.Asked != found.Had+found.Missed || len(by) != found.Asked || len(found.Items) != found.Asked {
		d.t.Errorf("the figures don't fit together: %+v", found)
	}
	return found, by
}

// says lets the fake sender say that it has sent deliveries, the newest first.
func (f *fakeSender) says(sent ...sentOnce) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = sent
}

// refusing lets the fake sender answer all requests of its API for which a function returns true.
func (f *fakeSender) refusing(refuse func(w http.ResponseWriter) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = func(w http.ResponseWriter, _ *http.Request) bool { return refuse(w) }
}

// TestMissed: each sender is asked page by page, and what is missing comes in, once.
func TestMissed(t *testing.T) {
	t.Parallel()
	for kind := range fakes {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t, kind)
			provider := d.webhook.Trust.Provider
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
			d.says(append(sent, sentOnce{id: "old", ref: "old", kind: "wanted", at: now.Add(-48 * time.Hour)})...)

			found, by := d.states("dryRun", "true")
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
			if _, by = d.states(); fmt.Sprint(by) != fmt.Sprint(want) {
				t.Fatalf("it was %v, want %v", by, want)
			}
			for id, state := range want {
				if want[id] = sluice.MissedHad; state == sluice.MissedGone {
					want[id] = state
				}
			}
			if _, by = d.states(); fmt.Sprint(by) != fmt.Sprint(want) {
				t.Errorf("the next time it was %v, want %v", by, want)
			}
			if wanted := map[bool]int64{true: 3, false: 4}[gone]; d.stored.Load() != wanted {
				t.Errorf("%d events are stored, want %d", d.stored.Load(), wanted)
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
			d := openDesk(t, provider)
			d.says(sentOnce{id: "a", ref: "a", kind: "wanted", at: time.Now().Add(-time.Minute)})
			d.refusing(func(w http.ResponseWriter) bool {
				w.Header().Set("Retry-After", "77")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			})
			_, err := d.ask()
			if limited := sluice.AsError(err); limited.Code != "sender-limits" || limited.Kind != sluice.Throttled || limited.RetryAfter != 77*time.Second {
				t.Errorf("a limit is told as %+v", limited)
			}
			times := 0
			d.refusing(func(w http.ResponseWriter) bool {
				if times++; times > 1 {
					return false
				}
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			})
			if found, _ := d.states("dryRun", "true"); found.Missed != 1 || times < 2 {
				t.Errorf("after a short pause: %+v", found)
			}
			wantRefused := func(name, credential string) {
				t.Helper()
				_, err := d.ask()
				switch refused := sluice.AsError(err); {
				case refused.Code != "sender-refuses":
					t.Errorf("%s: %v", name, err)
				case strings.Contains(refused.Message, credential) || strings.Contains(d.log.String(), credential):
					t.Errorf("%s: it tells the credential: %s", name, refused.Message)
				}
			}
			for name, refuse := range map[string]func(w http.ResponseWriter) bool{
				"500":        func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusInternalServerError); return true },
				"no JSON":    func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, "<html>"); return true },
				"a redirect": func(w http.ResponseWriter) bool { w.Header().Set("Location", "/"); w.WriteHeader(302); return true },
				"no hook":    func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusNotFound); return true },
			} {
				d.refusing(refuse)
				wantRefused(name, "t0ken")
			}
			d.refusing(func(http.ResponseWriter) bool { return false })
			d.webhook.APISecret = "client:wrong-secret"
			if provider == "github app" {
				if _, err := d.ask(); sluice.AsError(err).Parameter != "apiSecret" || strings.Contains(err.Error(), "wrong-secret") {
					t.Errorf("no key: %v", err)
				}
				other, _ := paypalCertificate(t)
				d.webhook.APISecret = "4711:" + keyInPEM(other)
			}
			wantRefused("a wrong credential", strings.TrimPrefix(strings.TrimPrefix(d.webhook.APISecret, "client:"), "4711:"))
		})
	}
}

// TestMissedSettings: what a webhook lacks to be asked about is named.
func TestMissedSettings(t *testing.T) {
	t.Parallel()
	d := openDesk(t, "github")
	wantParameter := func(name string, pairs ...string) {
		t.Helper()
		if _, err := d.ask(pairs...); sluice.AsError(err).Code != "parameter-invalid" || sluice.AsError(err).Parameter != name {
			t.Errorf("%v, want one about %s", err, name)
		}
	}
	wantParameter("to", "from", "2026-01-02T00:00:00Z", "to", "2026-01-01T00:00:00Z")
	address := d.webhook.APIURL
	d.webhook.APIURL = ""
	wantParameter("apiUrl")
	d.webhook.APIURL, d.webhook.APISecret = address, ""
	wantParameter("apiSecret")
	d.webhook.Trust = &sluice.Trust{Provider: "slack"}
	if _, err := d.ask(); !strings.Contains(err.Error(), "github, gitlab, paddle, paypal, square, stripe, svix") {
		t.Errorf("of a sender that can't be asked it says %v", err)
	}
	d.webhook.Trust = &sluice.Trust{Provider: "paddle"}
	d.webhook.APISecret = "t0ken"
	wantParameter("apiUrl") // it is no address of Paddle's
}

// TestMissedChecks: a fetched event that the webhook refuses is still missing, and a stored
// secret can be the credential.
func TestMissedChecks(t *testing.T) {
	t.Parallel()
	d := openDesk(t, "stripe")
	d.webhook.APISecret = "secret:stored"
	d.says(sentOnce{id: "evt_1", ref: "evt_1", kind: "wanted", at: time.Now().Add(-time.Minute)})
	d.refuses = sluice.CodePayloadInvalid.Errorf("It has no name.")
	if _, by := d.states(); by["evt_1"] != sluice.MissedStill || !strings.Contains(d.log.String(), "It has no name.") {
		t.Errorf("against the schema it is %v", by)
	}
	d.refuses = sluice.CodeEngineUnavailable.Errorf("Try again soon.")
	if _, err := d.ask(); sluice.AsError(err).Kind != sluice.Unavailable {
		t.Errorf("while nothing can be stored: %v", err)
	}
	d.refuses = nil
	if _, by := d.states(); by["evt_1"] != sluice.MissedFetched {
		t.Errorf("it is %v", by)
	}
}

// keyInPEM returns a private key as GitHub shows it.
func keyInPEM(key *rsa.PrivateKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}
