package sender

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice"
)

func FuzzParseScheme(f *testing.F) {
	f.Add(`{"header":"X-S","format":"t={timestamp},v1={signature}","signed":"{timestamp}.{body}","tolerance":"5m"}`, "secret")
	f.Add(`{"header":"X-S","format":"v1,{signature}","encoding":"base64","signed":"{id}.{timestamp}.{body}","timestampHeader":"X-T","idHeader":"X-I"}`, "base64:c2VjcmV0")
	f.Add(`{"header":"X-S","format":"{signature};a={timestamp}","algorithm":"sha1","signed":"{method}{url}{body}{timestamp}"}`, "hex:00")
	f.Add(`{"header":"X-S","algorithm":"ed25519"}`, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
	f.Add(`{"header":"X-S","format":"{{signature}}"}`, "")
	f.Fuzz(func(t *testing.T, text, secret string) {
		scheme, err := ParseScheme([]byte(text))
		if err != nil {
			if e := sluice.AsError(err); e.Kind != sluice.Invalid || !strings.HasPrefix(e.Parameter, "signature") {
				t.Errorf("%q gives %v", text, err)
			}
			return
		}
		v, err := New(scheme, []string{secret}, nil)
		if err != nil {
			if sluice.AsError(err).Parameter != "signingSecret" {
				t.Errorf("%q gives %v", text, err)
			}
			return
		}
		// Whatever a scheme says, what it signs it accepts, and nothing else.
		now := time.Unix(1_800_000_000, 0)
		call := &Call{Method: "POST", URL: "https://x.example.com/", Header: http.Header{}, Body: []byte("body")}
		if codeOf(v.Sign(call, now)) != "ok" {
			return
		}
		if err := v.Verify(t.Context(), call, now); err != nil {
			t.Errorf("%q: %v in %q", text, err, call.Header)
		}
		call.Body = []byte("Body")
		if err := v.Verify(t.Context(), call, now); codeOf(err) != "signature-invalid" {
			t.Errorf("%q accepts another body", text)
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add("t={timestamp},v1={signature}", "t=1,v1=00,v1=11,v0=x")
	f.Add("v1,{signature}", "v1,aa v1a,bb  v1,cc")
	f.Add("ts={timestamp};h1={signature}", "ts=1;;h1=;h1=00")
	f.Add("sha256={signature}", "sha256=sha256=")
	f.Add("{signature}", " , ;")
	f.Fuzz(func(t *testing.T, pattern, value string) {
		format, err := parseFormat(pattern)
		if err != nil {
			return
		}
		found, timestamp, ok := format.scan(value, nil)
		if !ok {
			return
		}
		if len(found) == 0 || len(found) > maxAlternatives || (timestamp != "") != format.timestamps() {
			t.Errorf("%q in %q gives %q, %q", pattern, value, found, timestamp)
		}
		for _, text := range append(found, timestamp) {
			if !strings.Contains(value, text) || strings.IndexByte(text, format.separator) >= 0 {
				t.Errorf("%q in %q gives %q", pattern, value, text)
			}
		}
	})
}

// Whatever strangers send to any sender's webhook: a refusal with one of the
// codes, never an event, never a panic.
func FuzzStrangers(f *testing.F) {
	now := time.Unix(1_800_000_000, 0)
	verifiers := map[string]*Verifier{}
	for _, p := range Presets() {
		file := readVectors(f, p.Name)
		secrets := []string{"whsec_bm90IHlvdXJz"} // so that the seeds are refused
		switch p.Name {
		case "discord", "sendgrid", "wise":
			secrets = file.Secrets // public, and the seeds are of another time, or header
		case "adyen":
			secrets = []string{"00ff"} // it has to be hex
		}
		if p.Secret != "" {
			verifiers[p.Name] = verifierOf(f, p.Name, secrets, file.Keys)
		}
		for _, c := range file.Calls[:1] {
			header := ""
			for _, value := range c.Header {
				header = max(header, value)
			}
			f.Add(c.Method, url.QueryEscape(c.Name), header, "1800000000", []byte(c.Body))
		}
	}
	headers := []string{
		"X-Hub-Signature-256", "X-Hub-Signature", "Stripe-Signature", "X-Slack-Signature", "Webhook-Signature", "Svix-Signature", "Paddle-Signature",
		"X-Twilio-Signature", "X-Signature-Ed25519", "X-Twilio-Email-Event-Webhook-Signature", "Linear-Signature", "Calendly-Webhook-Signature",
		"X-Hubspot-Signature-V3", "X-Gitlab-Token", "Authorization", "X-Hook-Signature", "X-Hook-Secret", "Content-Type", "Webhook-Request-Origin",
	}
	times := []string{"X-Slack-Request-Timestamp", "Webhook-Timestamp", "Svix-Timestamp", "X-Signature-Timestamp", "X-Zm-Request-Timestamp", "X-Hubspot-Request-Timestamp"}
	f.Fuzz(func(t *testing.T, method, query, header, timestamp string, body []byte) {
		call := &Call{Method: method, URL: "https://x.example.com/?" + query, Header: http.Header{"Webhook-Id": {"1"}, "Svix-Id": {"1"}}, Body: body}
		for _, name := range headers {
			call.Header.Set(name, header)
		}
		for _, name := range times {
			call.Header.Set(name, timestamp)
		}
		for name, v := range verifiers {
			switch code := codeOf(v.Verify(t.Context(), call, now)); code {
			case "signature-missing", "signature-invalid", "signature-expired", "sender-keys-unavailable":
			default:
				t.Errorf("%s: %s", name, code)
			}
			answer, err := v.Handshake(t.Context(), call, now, "token")
			if answer != nil && (err != nil || len(answer.Body) > 4*maxChallenge || v.preset.Handshake.Signed) {
				t.Errorf("%s: %+v, %v", name, answer, err)
			}
		}
	})
}
