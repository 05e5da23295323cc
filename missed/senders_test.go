package missed_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/sender"
)

// A sentOnce is a delivery that a fake sender has sent, or says so.
type sentOnce struct {
	id   string // the delivery id
	ref  string // by which the sender knows it
	kind string
	at   time.Time
	gone bool // the sender no longer has it
}

// body is the payload, with the id where senders have it.
func (d sentOnce) body() string {
	return fmt.Sprintf(`{"id":%q,"event_id":%q,"type":%q,"event_type":%q,"created":%d,"created_at":%q}`, d.id, d.id, d.kind, d.kind, d.at.Unix(), d.at.UTC().Format(time.RFC3339))
}

// A fakeSender is a sender with its API, as its documentation describes it. It lists two
// deliveries a page.
type fakeSender struct {
	t      *testing.T
	mux    *http.ServeMux
	server *httptest.Server
	calls  string // the address that it calls
	secret string // that calls are signed with
	key    *rsa.PrivateKey

	mu      sync.Mutex
	sent    []sentOnce // newest first
	refuse  func(w http.ResponseWriter, r *http.Request) bool
	ordered int // redeliveries
}

// pageSize is less than any sender has, so that pages are followed.
const pageSize = 2

func newFakeSender(t *testing.T, authorized func(authorization string) bool) *fakeSender {
	t.Helper()
	f := &fakeSender{t: t, mux: http.NewServeMux()}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		refuse := f.refuse
		f.mu.Unlock()
		switch {
		case refuse != nil && refuse(w, r):
		case !authorized(r.Header.Get("Authorization")) && !strings.HasSuffix(r.URL.Path, "/oauth2/token"):
			http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
		default:
			f.mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.server.Close)
	return f
}

// page returns the deliveries from a position on, and the position of the next page; 0 if there
// is none.
func (f *fakeSender) page(from string, fits func(sentOnce) bool) (page []sentOnce, next int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.sent)
	if fits != nil {
		all = slices.DeleteFunc(all, func(d sentOnce) bool { return !fits(d) })
	}
	at, _ := strconv.Atoi(from)
	end := min(at+pageSize, len(all))
	if at > end {
		return nil, 0
	}
	if end < len(all) {
		next = end
	}
	return all[at:end], next
}

// between reports whether a delivery was at a time that a query names.
func between(from, to string) func(sentOnce) bool {
	first, err := time.Parse(time.RFC3339, from)
	last, wrong := time.Parse(time.RFC3339, to)
	return func(d sentOnce) bool {
		return err == nil && wrong == nil && !d.at.Before(first) && !d.at.After(last.Add(time.Second))
	}
}

// write answers in JSON.
func write(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// redeliver sends a delivery again, if the sender has it.
func (f *fakeSender) redeliver(w http.ResponseWriter, ref string, accepted int, header func(sentOnce) http.Header) {
	f.mu.Lock()
	i := slices.IndexFunc(f.sent, func(d sentOnce) bool { return d.ref == ref })
	if i < 0 || f.sent[i].gone {
		f.mu.Unlock()
		write(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return
	}
	d := f.sent[i]
	f.ordered++
	f.mu.Unlock()
	r, err := http.NewRequest(http.MethodPost, f.calls, strings.NewReader(d.body()))
	if err != nil {
		f.t.Error(err)
		return
	}
	r.Header = header(d)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Error(err)
		return
	}
	content, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		f.t.Errorf("the redelivery was answered %s: %s", answer.Status, content)
	}
	write(w, accepted, map[string]any{})
}

// fakes are the senders by name: each returns the address of its hook.
var fakes = map[string]func(f *fakeSender) (apiURL string){
	"github": fakeGitHub("/repos/o/r/hooks/1"),
	// https://docs.github.com/en/rest/apps/webhooks
	"github app": fakeGitHub("/app/hook"),
	"gitlab": func(f *fakeSender) string {
		f.mux.HandleFunc("GET /api/v4/projects/7/hooks/1/events", func(w http.ResponseWriter, r *http.Request) {
			number, _ := strconv.Atoi(r.URL.Query().Get("page"))
			page, _ := f.page(strconv.Itoa((number-1)*pageSize), nil)
			items := []map[string]any{}
			for _, d := range page {
				id, _ := strconv.Atoi(d.ref)
				items = append(items, map[string]any{"id": id, "request_headers": map[string]string{"Idempotency-Key": d.id}, "response_headers": map[string]string{"Date": d.at.UTC().Format(http.TimeFormat)}, "response_status": "502"})
			}
			write(w, http.StatusOK, items)
		})
		f.mux.HandleFunc("POST /api/v4/projects/7/hooks/1/events/{id}/resend", func(w http.ResponseWriter, r *http.Request) {
			f.redeliver(w, r.PathValue("id"), http.StatusCreated, func(d sentOnce) http.Header {
				// https://docs.gitlab.com/user/project/integrations/webhooks/#signing-tokens
				header := http.Header{"Idempotency-Key": {d.id}}
				if err := sender.SignStandard(header, f.secret, d.id, []byte(d.body()), time.Now()); err != nil {
					f.t.Error(err)
				}
				return header
			})
		})
		return f.server.URL + "/api/v4/projects/7/hooks/1"
	},
	"paddle": func(f *fakeSender) string {
		f.mux.HandleFunc("GET /notifications", func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			if query.Get("notification_setting_id") != "ntfset_1" {
				write(w, http.StatusBadRequest, nil)
				return
			}
			page, next := f.page(query.Get("after"), between(query.Get("from"), query.Get("to")))
			items := []map[string]any{}
			for _, d := range page {
				items = append(items, map[string]any{"id": d.ref, "status": "failed", "origin": "event", "occurred_at": d.at.UTC().Format(time.RFC3339), "payload": json.RawMessage(d.body())})
			}
			query.Set("after", strconv.Itoa(next))
			write(w, http.StatusOK, map[string]any{"data": items, "meta": map[string]any{"pagination": map[string]any{"next": "https://api.paddle.com/notifications?" + query.Encode(), "has_more": next > 0}}})
		})
		f.mux.HandleFunc("POST /notifications/{id}/replay", func(w http.ResponseWriter, r *http.Request) {
			f.redeliver(w, r.PathValue("id"), http.StatusAccepted, func(d sentOnce) http.Header {
				now := strconv.FormatInt(time.Now().Unix(), 10)
				return http.Header{"Paddle-Signature": {"ts=" + now + ";h1=" + hexMAC(f.secret, now+":"+d.body())}}
			})
		})
		return f.server.URL + "/notification-settings/ntfset_1"
	},
	"paypal": func(f *fakeSender) string {
		f.mux.HandleFunc("POST /v1/oauth2/token", func(w http.ResponseWriter, r *http.Request) {
			if name, password, _ := r.BasicAuth(); name != "client" || password != "t0ken" || r.FormValue("grant_type") != "client_credentials" {
				write(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
				return
			}
			write(w, http.StatusOK, map[string]string{"access_token": "issued"})
		})
		f.mux.HandleFunc("GET /v1/notifications/webhooks/W1", func(w http.ResponseWriter, _ *http.Request) {
			write(w, http.StatusOK, map[string]any{"id": "W1", "event_types": []map[string]string{{"name": "wanted"}}})
		})
		f.mux.HandleFunc("GET /v1/notifications/webhooks-events", func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			page, next := f.page(query.Get("next_page_token"), between(query.Get("start_time"), query.Get("end_time")))
			items, links := []map[string]any{}, []map[string]string{}
			for _, d := range page {
				items = append(items, map[string]any{"id": d.id, "event_type": d.kind, "create_time": d.at.UTC().Format(time.RFC3339)})
			}
			if next > 0 {
				query.Set("next_page_token", strconv.Itoa(next))
				links = append(links, map[string]string{"rel": "next", "href": "https://api.paypal.com/v1/notifications/webhooks-events?" + query.Encode()})
			}
			write(w, http.StatusOK, map[string]any{"events": items, "links": links})
		})
		f.mux.HandleFunc("POST /v1/notifications/webhooks-events/{id}/resend", func(w http.ResponseWriter, r *http.Request) {
			var order struct {
				Hooks []string `json:"webhook_ids"`
			}
			if err := json.NewDecoder(r.Body).Decode(&order); err != nil || !slices.Equal(order.Hooks, []string{"W1"}) {
				write(w, http.StatusBadRequest, nil)
				return
			}
			f.redeliver(w, r.PathValue("id"), http.StatusAccepted, func(d sentOnce) http.Header {
				signed := sha256.Sum256(fmt.Appendf(nil, "t|2026-01-01T00:00:00Z|%s|%d", f.secret, crc32.ChecksumIEEE([]byte(d.body()))))
				signature, err := rsa.SignPKCS1v15(nil, f.key, crypto.SHA256, signed[:])
				if err != nil {
					f.t.Error(err)
				}
				return http.Header{
					"Paypal-Transmission-Id": {"t"}, "Paypal-Transmission-Time": {"2026-01-01T00:00:00Z"}, "Paypal-Cert-Url": {"https://api.paypal.com/v1/notifications/certs/CERT-1"},
					"Paypal-Auth-Algo": {"SHA256withRSA"}, "Paypal-Transmission-Sig": {base64.StdEncoding.EncodeToString(signature)},
				}
			})
		})
		return f.server.URL + "/v1/notifications/webhooks/W1"
	},
	"square": func(f *fakeSender) string {
		f.mux.HandleFunc("GET /v2/webhooks/subscriptions/wbhk_1", func(w http.ResponseWriter, _ *http.Request) {
			write(w, http.StatusOK, map[string]any{"subscription": map[string]any{"id": "wbhk_1", "event_types": []string{"wanted"}}})
		})
		f.mux.HandleFunc("POST /v2/events", func(w http.ResponseWriter, r *http.Request) {
			var search struct {
				Cursor string `json:"cursor"`
				Query  struct {
					Filter struct {
						Created struct {
							From string `json:"start_at"`
							To   string `json:"end_at"`
						} `json:"created_at"`
					} `json:"filter"`
				} `json:"query"`
			}
			if err := json.NewDecoder(r.Body).Decode(&search); err != nil {
				write(w, http.StatusBadRequest, nil)
				return
			}
			page, next := f.page(search.Cursor, between(search.Query.Filter.Created.From, search.Query.Filter.Created.To))
			found := map[string]any{}
			items := []json.RawMessage{}
			for _, d := range page {
				items = append(items, json.RawMessage(d.body()))
			}
			found["events"] = items
			if next > 0 {
				found["cursor"] = strconv.Itoa(next)
			}
			write(w, http.StatusOK, found)
		})
		return f.server.URL + "/v2/webhooks/subscriptions/wbhk_1"
	},
	"stripe": func(f *fakeSender) string {
		f.mux.HandleFunc("GET /v1/webhook_endpoints/we_1", func(w http.ResponseWriter, _ *http.Request) {
			write(w, http.StatusOK, map[string]any{"id": "we_1", "enabled_events": []string{"wanted"}})
		})
		f.mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			least, _ := strconv.ParseInt(query.Get("created[gte]"), 10, 64)
			most, _ := strconv.ParseInt(query.Get("created[lte]"), 10, 64)
			from := 0
			within := func(d sentOnce) bool { return d.at.Unix() >= least && d.at.Unix() <= most }
			if after := query.Get("starting_after"); after != "" {
				f.mu.Lock()
				fitting := slices.DeleteFunc(slices.Clone(f.sent), func(d sentOnce) bool { return !within(d) })
				f.mu.Unlock()
				from = slices.IndexFunc(fitting, func(d sentOnce) bool { return d.id == after }) + 1
			}
			page, next := f.page(strconv.Itoa(from), within)
			items := []json.RawMessage{}
			for _, d := range page {
				items = append(items, json.RawMessage(d.body()))
			}
			write(w, http.StatusOK, map[string]any{"data": items, "has_more": next > 0})
		})
		f.mux.HandleFunc("GET /v1/events/{id}", func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			i := slices.IndexFunc(f.sent, func(d sentOnce) bool { return d.id == r.PathValue("id") })
			if i < 0 || f.sent[i].gone {
				write(w, http.StatusNotFound, map[string]string{"error": "no such event"})
				return
			}
			_, _ = io.WriteString(w, f.sent[i].body())
		})
		return f.server.URL + "/v1/webhook_endpoints/we_1"
	},
	// https://docs.stripe.com/api/v2/core/event-destinations and https://docs.stripe.com/api/v2/core/events/list
	"stripe destination": func(f *fakeSender) string {
		versioned := func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Stripe-Version") < "2025-10-29" {
				write(w, http.StatusBadRequest, map[string]string{"error": "object_id is required"})
				return false
			}
			return true
		}
		thin := func(d sentOnce) map[string]any {
			return map[string]any{"id": d.id, "object": "v2.core.event", "type": d.kind, "created": d.at.UTC().Format("2006-01-02T15:04:05.000Z")}
		}
		f.mux.HandleFunc("GET /v2/core/event_destinations/ed_1", func(w http.ResponseWriter, r *http.Request) {
			if versioned(w, r) {
				write(w, http.StatusOK, map[string]any{"id": "ed_1", "event_payload": "thin", "enabled_events": []string{"wanted"}, "status": "enabled"})
			}
		})
		f.mux.HandleFunc("GET /v2/core/events", func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			if !versioned(w, r) {
				return
			}
			page, next := f.page(query.Get("page"), between(query.Get("created[gte]"), query.Get("created[lte]")))
			items, following := []map[string]any{}, any(nil)
			for _, d := range page {
				items = append(items, thin(d))
			}
			if next > 0 {
				query.Set("page", strconv.Itoa(next))
				following = "/v2/core/events?" + query.Encode()
			}
			write(w, http.StatusOK, map[string]any{"data": items, "next_page_url": following, "previous_page_url": nil})
		})
		f.mux.HandleFunc("GET /v2/core/events/{id}", func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			i := slices.IndexFunc(f.sent, func(d sentOnce) bool { return d.id == r.PathValue("id") })
			if i < 0 || f.sent[i].gone {
				write(w, http.StatusNotFound, map[string]any{"error": map[string]string{"code": "not_found"}})
				return
			}
			write(w, http.StatusOK, thin(f.sent[i]))
		})
		return f.server.URL + "/v2/core/event_destinations/ed_1"
	},
	"svix": func(f *fakeSender) string {
		f.mux.HandleFunc("GET /api/v1/app/app_1/endpoint/ep_1/msg", func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			page, next := f.page(query.Get("iterator"), between(query.Get("after"), query.Get("before")))
			items := []map[string]any{}
			for _, d := range page {
				items = append(items, map[string]any{"id": d.id, "timestamp": d.at.UTC().Format(time.RFC3339Nano), "eventType": d.kind, "status": 2})
			}
			write(w, http.StatusOK, map[string]any{"data": items, "iterator": strconv.Itoa(next), "done": next == 0})
		})
		f.mux.HandleFunc("POST /api/v1/app/app_1/msg/{id}/endpoint/ep_1/resend", func(w http.ResponseWriter, r *http.Request) {
			f.redeliver(w, r.PathValue("id"), http.StatusAccepted, func(d sentOnce) http.Header {
				now := strconv.FormatInt(time.Now().Unix(), 10)
				key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(f.secret, "whsec_"))
				mac := hmac.New(sha256.New, key)
				_, _ = mac.Write([]byte(d.id + "." + now + "." + d.body()))
				return http.Header{"Svix-Id": {d.id}, "Svix-Timestamp": {now}, "Svix-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
			})
		})
		return f.server.URL + "/api/v1/app/app_1/endpoint/ep_1"
	},
}

// hexMAC signs as GitHub and others do.
func hexMAC(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// paypalCertificate makes the key that PayPal signs with, and its certificate in PEM.
func paypalCertificate(t *testing.T) (*rsa.PrivateKey, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}

func fakeGitHub(path string) func(f *fakeSender) string {
	return func(f *fakeSender) string {
		f.mux.HandleFunc("GET "+path+"/deliveries", func(w http.ResponseWriter, r *http.Request) {
			page, next := f.page(r.URL.Query().Get("cursor"), nil)
			items := []map[string]any{}
			for _, d := range page {
				number, _ := strconv.Atoi(d.ref)
				items = append(items, map[string]any{"id": number, "guid": d.id, "delivered_at": d.at.UTC().Format(time.RFC3339), "redelivery": false, "status_code": 502, "event": d.kind})
			}
			if next > 0 {
				w.Header().Set("Link", fmt.Sprintf(`<https://api.github.com%s/deliveries?per_page=2&cursor=%d>; rel="next"`, path, next))
			}
			write(w, http.StatusOK, items)
		})
		f.mux.HandleFunc("POST "+path+"/deliveries/{id}/attempts", func(w http.ResponseWriter, r *http.Request) {
			f.redeliver(w, r.PathValue("id"), http.StatusAccepted, func(d sentOnce) http.Header {
				return http.Header{"X-Github-Delivery": {d.id}, "X-Hub-Signature-256": {"sha256=" + hexMAC(f.secret, d.body())}}
			})
		})
		return f.server.URL + path
	}
}

// isAppToken reports whether a token is one that an app has signed for 10 minutes at most
// (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app).
func isAppToken(key *rsa.PublicKey, authorization string) bool {
	signed, signature, _ := cutLast(strings.TrimPrefix(authorization, "Bearer "), ".")
	sum, _ := base64.RawURLEncoding.DecodeString(signature)
	digest := sha256.Sum256([]byte(signed))
	_, claimed, _ := strings.Cut(signed, ".")
	text, _ := base64.RawURLEncoding.DecodeString(claimed)
	var claims struct {
		Begin int64  `json:"iat"`
		End   int64  `json:"exp"`
		App   string `json:"iss"`
	}
	err := json.Unmarshal(text, &claims)
	now := time.Now().Unix()
	return err == nil && rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], sum) == nil && claims.App == "4711" &&
		claims.Begin <= now && claims.End > now && claims.End <= now+600
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
