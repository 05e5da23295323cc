package missed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/missed"
)

const (
	ourBase  = "https://hooks.example.com"
	ourToken = "0b9f3c1e-6a52-4d0e-9f4e-2f1f7f2f9a10"
)

// subscriptions are replies about a webhook, as the senders' documents show them; URL and ON stand
// for what changes.
var subscriptions = map[string]struct {
	path, reply string
	on, off     string // values of the switch; "": there is none
	types       []string
}{
	// https://docs.github.com/en/rest/repos/webhooks#get-a-repository-webhook
	"github": {"/repos/o/r/hooks/1", `{"id":1,"active":ON,"events":["push","pull_request"],"config":{"url":"URL","content_type":"json"}}`, "true", "false", []string{"push", "pull_request"}},
	// https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
	"github app": {"/app/hook/config", `{"content_type":"json","insecure_ssl":"0","secret":"********","url":"URL"}`, "", "", nil},
	// https://docs.gitlab.com/api/project_webhooks/#get-a-project-webhook
	"gitlab": {"/api/v4/projects/7/hooks/1", `{"id":1,"url":"URL","push_events":true,"issues_events":false,"tag_push_events":true,"alert_status":ON,"disabled_until":null}`, `"executable"`, `"disabled"`, []string{"push_events", "tag_push_events"}},
	// https://learn.microsoft.com/en-us/graph/api/subscription-get
	"microsoft-graph": {"/v1.0/subscriptions/1", `{"id":"1","resource":"me/messages","changeType":"created,updated","notificationUrl":"URL","expirationDateTime":"2099-01-01T00:00:00.0000000Z"}`, "", "", []string{"created", "updated"}},
	// https://developer.paddle.com/api-reference/notification-settings/get-notification-setting
	"paddle": {"/notification-settings/ntfset_1", `{"data":{"id":"ntfset_1","active":ON,"destination":"URL","subscribed_events":[{"name":"transaction.paid","group":"Transaction"}]},"meta":{}}`, "true", "false", []string{"transaction.paid"}},
	// https://developer.paypal.com/docs/api/webhooks/v1/#webhooks_get
	"paypal": {"/v1/notifications/webhooks/1", `{"id":"1","url":"URL","event_types":[{"name":"PAYMENT.SALE.COMPLETED","status":"ENABLED"}]}`, "", "", []string{"PAYMENT.SALE.COMPLETED"}},
	// https://developer.squareup.com/reference/square/webhook-subscriptions-api/retrieve-webhook-subscription
	"square": {"/v2/webhooks/subscriptions/wbhk_1", `{"subscription":{"id":"wbhk_1","enabled":ON,"event_types":["payment.created"],"notification_url":"URL"}}`, "true", "false", []string{"payment.created"}},
	// https://docs.stripe.com/api/webhook_endpoints/retrieve
	"stripe": {"/v1/webhook_endpoints/we_1", `{"id":"we_1","enabled_events":["charge.failed"],"status":ON,"url":"URL"}`, `"enabled"`, `"disabled"`, []string{"charge.failed"}},
	// https://docs.stripe.com/api/v2/core/event-destinations/retrieve
	"stripe destination": {"/v2/core/event_destinations/ed_1", `{"id":"ed_1","enabled_events":["v1.charge.failed"],"status":ON,"webhook_endpoint":{"url":"URL"}}`, `"enabled"`, `"disabled"`, []string{"v1.charge.failed"}},
	// https://api.svix.com/docs#tag/Endpoint/operation/v1.endpoint.get
	"svix": {"/api/v1/app/app_1/endpoint/ep_1", `{"id":"ep_1","url":"URL","disabled":ON,"filterTypes":["user.created"]}`, "false", "true", []string{"user.created"}},
}

// A counter is a sender that is asked about a webhook, and the finder that asks it.
type counter struct {
	t      *testing.T
	hook   sluice.Webhook
	runs   sluice.Records[sluice.MissedRun]
	finder *missed.Finder
	answer func(w http.ResponseWriter, r *http.Request)
	asked  int
}

func openCounter(t *testing.T, kind string) *counter {
	t.Helper()
	c := &counter{t: t, runs: openEngine(t).Missed}
	key, _ := paypalCertificate(t)
	provider, _, _ := strings.Cut(kind, " ")
	secret, authorized := "t0ken", func(authorization string) bool { return authorization == "Bearer t0ken" }
	switch kind {
	case "paypal", "microsoft-graph":
		secret = map[string]string{"paypal": "client:s3cret", "microsoft-graph": "tenant:client:s3cret"}[kind]
	case "github app":
		secret, authorized = "4711:"+keyInPEM(key), func(authorization string) bool { return isAppToken(&key.PublicKey, authorization) }
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		switch {
		case strings.HasSuffix(r.URL.Path, "/token") && r.Method == http.MethodPost && name == "client" && password == "s3cret":
			fmt.Fprint(w, `{"access_token":"t0ken","token_type":"Bearer"}`)
		case !authorized(r.Header.Get("Authorization")):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			c.asked++
			c.answer(w, r)
		}
	}))
	t.Cleanup(server.Close)
	c.hook = sluice.Webhook{
		UUID: ourToken, EventKey: "webhook.asked", Trust: &sluice.Trust{Provider: provider},
		Settings: sluice.Settings[time.Duration]{APIURL: server.URL + strings.TrimSuffix(subscriptions[kind].path, "/config"), APISecret: secret},
	}
	c.finder = missed.New(missed.Options{
		Webhook:  func(string) (sluice.Webhook, error) { return c.hook, nil },
		Webhooks: func() []*sluice.Webhook { return []*sluice.Webhook{&c.hook} },
		Runs:     c.runs, Plain: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), BaseURL: ourBase,
	})
	return c
}

// check runs webhook.check.
func (c *counter) check() (sluice.Subscription, error) {
	set := command.NewSet(func(context.Context, sluice.AuditEntry) {},
		missed.Commands(c.finder, func(context.Context, string, string) error { return nil }))
	cmd, _ := set.Find("webhook.check")
	out, err := set.Call(sluice.WithUser(c.t.Context(), sluice.User{Permissions: []string{"*"}}), cmd, command.Args{{Name: "eventKey", Value: c.hook.EventKey}})
	found, _ := out.(sluice.Subscription)
	return found, err
}

// wantState checks what is said of the webhook, and what is noted of it.
func (c *counter) wantState(name, state string) sluice.Subscription {
	c.t.Helper()
	found, err := c.check()
	if err != nil || found.State != state || found.Message == "" || strings.Contains(fmt.Sprint(found), ourToken) || strings.Contains(fmt.Sprint(found), "t0ken") {
		c.t.Errorf("%s: %+v, %v, want %s", name, found, err, state)
	}
	run, err := c.runs.Get(c.t.Context(), c.hook.UUID)
	if err != nil || run == nil || run.State != state || run.IsBroken() != slices.Contains([]string{"disabled", "gone", "elsewhere"}, state) {
		c.t.Errorf("%s is noted as %+v, %v", name, run, err)
	}
	return found
}

// TestCheck: each sender says whether the hook is there, turned on, and ours.
func TestCheck(t *testing.T) {
	t.Parallel()
	for kind, of := range subscriptions {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := openCounter(t, kind)
			says := func(url, on string) {
				c.answer = func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != of.path || kind == "stripe destination" && (r.URL.Query().Get("include[]") != "webhook_endpoint.url" || r.Header.Get("Stripe-Version") == "") {
						t.Errorf("%s is asked for", r.URL)
					}
					_, _ = io.WriteString(w, strings.NewReplacer("URL", url, "ON", on).Replace(of.reply))
				}
			}
			for _, own := range []string{ourBase + "/hook/" + ourToken, ourBase + "/api/v3/command/webhook.receive?token=" + strings.ToUpper(ourToken)} {
				says(own, of.on)
				if found := c.wantState("active", "active"); found.URL != ourBase || !slices.Equal(found.Types, of.types) {
					t.Errorf("shown is %+v", found)
				}
			}
			if of.off != "" {
				says(ourBase+"/hook/"+ourToken, of.off)
				c.wantState("turned off", "disabled")
			}
			says("https://old.example.com/hook/"+ourToken, of.on)
			c.wantState("another server", "elsewhere")
			says(ourBase+"/hook/"+strings.Repeat("0", 8)+ourToken[8:], of.on)
			c.wantState("another webhook", "elsewhere")
			for status, state := range map[int]string{404: "gone", 410: "gone", 500: "unknown", 403: "unknown", 429: "unknown"} {
				c.answer = func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", "60")
					w.WriteHeader(status)
				}
				c.wantState(http.StatusText(status), state)
			}
			c.answer = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }
			c.wantState("no JSON", "unknown")
			c.answer = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }
			c.wantState("nothing", "unknown")
		})
	}
}

// TestCheckSettings: what a webhook lacks is named.
func TestCheckSettings(t *testing.T) {
	t.Parallel()
	c := openCounter(t, "github")
	want := func(parameter, text string) {
		t.Helper()
		if _, err := c.check(); sluice.AsError(err).Code != "parameter-invalid" || sluice.AsError(err).Parameter != parameter || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want one about %s", err, parameter)
		}
	}
	address := c.hook.APIURL
	c.hook.APIURL = ""
	want("apiUrl", "apiUrl")
	c.hook.APIURL, c.hook.APISecret = address, ""
	want("apiSecret", "apiSecret")
	c.hook.Trust = &sluice.Trust{Provider: "slack"}
	want("eventKey", "github, gitlab, microsoft-graph, paddle, paypal, square, stripe, svix")
}

// TestGraphIsRenewed: when less than a day, or half of its time, is left; for as long as the last
// time, or for an hour where Graph allows no more
// (https://learn.microsoft.com/en-us/graph/api/subscription-update).
func TestGraphIsRenewed(t *testing.T) {
	t.Parallel()
	c := openCounter(t, "microsoft-graph")
	left, longest := 20*time.Hour, 71*time.Hour
	c.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			var asked struct {
				Until time.Time `json:"expirationDateTime"`
			}
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Header.Get("Content-Type") != "application/json" {
				t.Error(err)
			}
			if time.Until(asked.Until) > longest {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			left = time.Until(asked.Until)
		}
		write(w, http.StatusOK, map[string]any{"notificationUrl": ourBase + "/hook/" + ourToken, "changeType": "created", "expirationDateTime": time.Now().Add(left).UTC().Format("2006-01-02T15:04:05.0000000Z")})
	}
	for _, step := range []struct {
		name          string
		left, longest time.Duration
		renewed       bool
		until         time.Duration // that it lasts afterwards, to the hour
	}{
		{"under a day", 20 * time.Hour, 71 * time.Hour, true, 70 * time.Hour},
		{"over half", 40 * time.Hour, 71 * time.Hour, false, 40 * time.Hour},
		{"under half", 30 * time.Hour, 71 * time.Hour, true, 70 * time.Hour},
		{"for an hour at most", 20 * time.Hour, time.Hour, true, time.Hour},
	} {
		left, longest = step.left, step.longest
		found := c.wantState(step.name, "active")
		if lasts := time.Until(found.Expires).Round(time.Hour); found.Renewed != step.renewed || lasts != step.until {
			t.Errorf("%s: %+v", step.name, found)
		}
	}
	longest, left = 0, time.Hour
	if found := c.wantState("not to be renewed", "active"); found.Renewed || !strings.Contains(found.Message, "can't be renewed") {
		t.Errorf("not to be renewed: %+v", found)
	}
}

// TestCheckByItself: as often as the webhook says; what is found stays until the next time, and
// goes with the webhook's address at the sender.
func TestCheckByItself(t *testing.T) {
	t.Parallel()
	c := openCounter(t, "github")
	c.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	now := time.Now().UTC()
	for _, step := range []struct {
		every time.Duration
		after time.Duration
		asked int
	}{{0, 0, 0}, {time.Hour, 0, 1}, {time.Hour, 59 * time.Minute, 1}, {time.Hour, 61 * time.Minute, 2}} {
		c.hook.CheckEvery = step.every
		c.finder.Step(t.Context(), now.Add(step.after), false)
		if c.asked != step.asked {
			t.Errorf("after %s it was asked %d times, want %d", step.after, c.asked, step.asked)
		}
	}
	if run, _ := c.runs.Get(t.Context(), c.hook.UUID); run == nil || !run.IsBroken() || run.EventKey != c.hook.EventKey {
		t.Errorf("noted is %+v", run)
	}
}
