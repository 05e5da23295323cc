package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestKeysOfSenders: the keys that senders put in headers are in no event, trace,
// exchange or quarantine, and are not sent on.
func TestKeysOfSenders(t *testing.T) {
	t.Parallel()
	const key = "k3y-0f-the-sender"
	o := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.keys", "payloadType", "raw")
	off := s.create("webhook.off", "payloadType", "raw", "disabled", true)
	s.store("on", listening("webhook.keys",
		"http.forward: {url: '"+o.url+"/on'}",
		"http.request: {url: '"+o.url+"/own', headers: {x-api-key: "+key+", x_api_key: "+key+", X-Access-Key: "+key+"}}",
		"set: {value: '#{request.headers}'}"))
	withKeys := func(r *http.Request) {
		for _, name := range []string{
			"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X_Api_Key", "Apikey", "X-Auth", "X-Auth-Token", "X-Auth-Key", "X-Access-Token", "X-Access-Key",
			"X-Gitlab-Token", "X-Goog-Channel-Token", "X-Hook-Secret", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Session-Id", "X-Goog-Iap-Jwt-Assertion", "X-Password", "X-Amz-Credential",
		} {
			r.Header.Set(name, key)
		}
		r.Header.Set("Idempotency-Key", "kept-1")
		r.Header.Set("X-Event-Key", "kept-2")
		r.Header.Set("X-Hub-Signature-256", "kept-3")
	}
	got := s.call(hook, "text/plain", "hi", withKeys).result(t)
	for range 2 {
		if sent := o.next(); sent.path == "/on" {
			for name, values := range sent.header {
				if strings.Contains(strings.Join(values, " "), key) {
					t.Errorf("%s is sent on", name)
				}
			}
		}
	}
	s.call(off, "text/plain", "hi", withKeys).wantStatus(t, 403)
	texts := map[string]string{"result": toText(t, got)}
	for name, target := range map[string]string{
		"event":      "event.receive?eventKey=webhook.keys",
		"trace":      "trace.get?traceId=" + got.TraceID,
		"quarantine": "quarantine.get?eventKey=webhook.off",
	} {
		texts[name] = s.send("GET", "/api/v3/command/"+target, nil, asAdmin).wantStatus(t, 200).String()
	}
	for _, e := range s.events() {
		texts["stored event"] += toText(t, e.object(t))
	}
	for where, text := range texts {
		if strings.Contains(text, key) {
			t.Errorf("the %s has the key: %s", where, text)
		}
		if !strings.Contains(text, "kept-1") && where != "quarantine" {
			t.Errorf("the %s lacks what is no key: %s", where, text)
		}
	}
}
