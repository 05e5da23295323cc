package sender

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice"
)

func TestBadHandshakes(t *testing.T) {
	get := func(query string) Call {
		return Call{Method: "GET", URL: "https://x.example.com/?" + query, Header: http.Header{}}
	}
	post := func(body string) Call {
		return Call{Method: "POST", URL: "https://x.example.com/", Header: http.Header{}, Body: []byte(body)}
	}
	with := func(c Call, name string, values ...string) Call {
		c.Header[name] = values
		return c
	}
	long := strings.Repeat("x", maxChallenge+1)
	for _, test := range []struct {
		preset string
		call   Call
	}{
		{"github", get("hub.mode=subscribe&hub.challenge=1")},
		{"meta", get("hub.mode=subscribe&hub.challenge=" + long)},
		{"meta", get("hub.mode=subscribe&hub.challenge=1&hub.challenge=2")},
		{"meta", get("hub.mode=subscribe&hub.challenge=")},
		{"meta", get("hub.mode=subscribe&hub.challenge=%zz")},
		{"meta", post("")},
		{"dropbox", get("challenge=" + long)},
		{"dropbox", Call{Method: "POST", URL: "https://x.example.com/?challenge=1", Header: http.Header{}}},
		{"microsoft-graph", get("validationToken=1")},
		{"x", get("crc_token=" + long)},
		{"okta", with(get(""), "X-Okta-Verification-Challenge", long)},
		{"okta", with(post(""), "X-Okta-Verification-Challenge", "1")},
		{"slack", post(`{"type":"url_verification"}`)},
		{"slack", post(`{"type":"url_verification","challenge":{"a":1}}`)},
		{"slack", post(`{"type":"url_verification","challenge":""}`)},
		{"slack", post(`[{"type":"url_verification","challenge":"1"},1]`)},
		{"zoom", post(`{"event":"endpoint.url_validation"}`)},
		{"zoom", post(`{"event":"endpoint.url_validation","payload":{"plainToken":1}}`)},
		{"discord", post(`{"type":"1"}`)},
		{"discord", post(`{"type":12}`)},
		{"asana", with(post(""), "X-Hook-Secret", "a", "b")},
		{"asana", with(post(""), "X-Hook-Secret", strings.Repeat("x", 257))},
		{"asana", with(post(""), "X-Hook-Secret", "a\x00b")},
		{"asana", with(get(""), "X-Hook-Secret", "a")},
		{"trello", get("")},
		{"azure-event-grid", post(`[{"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","data":{}}]`)},
		{"azure-event-grid", post(`[{"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","data":{"validationCode":"1"}},{}]`)},
		{"cloudevents", with(get(""), "Webhook-Request-Origin", "a.example.com")},
		{"aws-sns", post(`{"Type":"SubscriptionConfirmation","SubscribeURL":"https://evil.example/?Action=ConfirmSubscription"}`)},
		{"aws-sns", post(`{"Type":"SubscriptionConfirmation","Type":"x"}`)},
		{"aws-sns", post(`{"Type":"SubscriptionConfirmation"}]`)},
	} {
		p, _ := Find(test.preset)
		var secrets []string
		if !p.SecretOptional {
			secrets = readVectors(t, test.preset).Secrets
		}
		v := verifierOf(t, test.preset, secrets, nil)
		if answer, err := v.Handshake(t.Context(), &test.call, time.Unix(1_800_000_000, 0), ""); answer != nil || err != nil {
			t.Errorf("%s: %s %s gives %+v, %v", test.preset, test.call.Method, test.call.URL[:min(len(test.call.URL), 80)], answer, err)
		}
	}
}

// TestAHandshakeSignsNoCalls: whoever has the URL can have a challenge signed.
func TestAHandshakeSignsNoCalls(t *testing.T) {
	v := verifierOf(t, "x", readVectors(t, "x").Secrets, nil)
	const body = "amount=9999"
	answer, err := v.Handshake(t.Context(), &Call{Method: "GET", URL: "https://x.example.com/?crc_token=" + body, Header: http.Header{}}, time.Now(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, signed, _ := strings.Cut(string(answer.Body), `"response_token":"`)
	signed, _, _ = strings.Cut(signed, `"`)
	forged := &Call{Method: "POST", URL: "https://x.example.com/", Header: http.Header{"X-Twitter-Webhooks-Signature": {signed}}, Body: []byte(body)}
	if err := v.Verify(t.Context(), forged, time.Now()); !strings.HasPrefix(signed, "sha256=") || sluice.AsError(err).Code != "signature-invalid" {
		t.Errorf("with the signature %q the call is answered %v", signed, err)
	}
}

// The answer is made with the secret that the handshake was signed with.
func TestHandshakeWhileTheSecretIsChanged(t *testing.T) {
	file := readVectors(t, "zoom")
	v := verifierOf(t, "zoom", []string{"new", file.Secrets[0]}, nil)
	h := file.Handshakes[0]
	answer, err := v.Handshake(t.Context(), h.call(), file.now(), "")
	if err != nil || string(answer.Body) != h.Answer.Body {
		t.Errorf("%+v, %v", answer, err)
	}
}

// Before the handshake nothing of Asana's is accepted, since anybody could have
// sent it.
func TestNothingBeforeTheSecretIsLearned(t *testing.T) {
	file := readVectors(t, "asana")
	v := verifierOf(t, "asana", nil, nil)
	if err := v.Verify(t.Context(), file.Calls[0].call(), file.now()); codeOf(err) != "signature-missing" {
		t.Errorf("%v", err)
	}
	if err := v.Sign(file.Calls[0].call(), file.now()); codeOf(err) != "not-signable" {
		t.Errorf("%v", err)
	}
}

func TestMasked(t *testing.T) {
	for name, header := range map[string]string{"gitlab": "x-gitlab-token", "okta": "authorization", "google-pubsub": "authorization", "asana": "x-hook-secret", "github": ""} {
		file := readVectors(t, name)
		masked := strings.Join(verifierOf(t, name, file.Secrets, nil).Masked(), " ")
		if masked != header {
			t.Errorf("%s masks %q", name, masked)
		}
	}
	// No header of a good call carries the secret, unless it is masked.
	for _, p := range Presets() {
		file := readVectors(t, p.Name)
		for name, values := range file.Calls[0].call().Header {
			for _, secret := range file.Secrets {
				if strings.Contains(strings.Join(values, " "), secret) && !strings.Contains(strings.Join(p.Masked, " "), strings.ToLower(name)) {
					t.Errorf("%s: the header %s shows the secret", p.Name, name)
				}
			}
		}
	}
}

func TestCloudEvent(t *testing.T) {
	all := sluice.CloudEvent{ID: "1", Source: "/a b", Type: "t", Subject: "sü", Time: "2018-04-05T17:31:00Z"}
	typed := func(media string) http.Header { return http.Header{"Content-Type": {media}} }
	binary := http.Header{"Ce-Specversion": {"1.0"}, "Ce-Id": {"1"}, "Ce-Source": {"/a%20b"}, "Ce-Type": {"t"}, "Ce-Subject": {"s%C3%BC"}, "Ce-Time": {"2018-04-05T17:31:00Z"}}
	const body = `{"specversion":"1.0","id":"1","source":"/a b","type":"t","subject":"sü","time":"2018-04-05T17:31:00Z","data":{"id":"2"}}`
	for name, test := range map[string]struct {
		call Call
		want sluice.CloudEvent
		ok   bool
	}{
		"binary":                {Call{Header: binary, Body: []byte("{}")}, all, true},
		"structured":            {Call{Header: typed("application/cloudevents+json; charset=utf-8"), Body: []byte(body)}, all, true},
		"a batch of one":        {Call{Header: typed("application/cloudevents-batch+json"), Body: []byte("[" + body + "]")}, all, true},
		"a batch of two":        {Call{Header: typed("application/cloudevents-batch+json"), Body: []byte("[" + body + "," + body + "]")}, sluice.CloudEvent{}, false},
		"JSON of another kind":  {Call{Header: typed("application/json"), Body: []byte(body)}, sluice.CloudEvent{}, false},
		"no id":                 {Call{Header: http.Header{"Ce-Source": {"a"}, "Ce-Type": {"t"}}}, sluice.CloudEvent{Source: "a", Type: "t"}, false},
		"structured, not JSON":  {Call{Header: typed("application/cloudevents+json"), Body: []byte("x")}, sluice.CloudEvent{}, false},
		"structured, id number": {Call{Header: typed("application/cloudevents+json"), Body: []byte(`{"id":1,"source":"a","type":"t"}`)}, sluice.CloudEvent{Source: "a", Type: "t"}, false},
	} {
		if e, ok := test.call.CloudEvent(); ok != test.ok || e != test.want {
			t.Errorf("%s: %+v, %v", name, e, ok)
		}
	}
}

func TestCloudEventIDs(t *testing.T) {
	d, err := ParseDedupe("cloudevent")
	if err != nil {
		t.Fatal(err)
	}
	id := func(source, id string) string {
		t.Helper()
		got, err := d.ID(&Call{Header: http.Header{"Ce-Id": {id}, "Ce-Source": {source}, "Ce-Type": {"t"}}})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	long := strings.Repeat("x", 300)
	if a := id("/a", "1"); a != "/a 1" {
		t.Error(a)
	}
	seen := make(map[string]bool)
	for _, pair := range [][2]string{{"a b", "c"}, {"a", "b c"}, {`"a`, `b" c`}, {`"a b"`, "c"}, {`"a b" c`, ""}} {
		if a := id(pair[0], pair[1]+"."); seen[a] {
			t.Errorf("two events have the id %s", a)
		} else {
			seen[a] = true
		}
	}
	if a, b := id("/"+long, "1"), id("/"+long, "2"); a == b || len(a) != 64 {
		t.Errorf("%s, %s", a, b)
	}
}
