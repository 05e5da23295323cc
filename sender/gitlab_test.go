package sender

import (
	"net/http"
	"testing"
	"time"

	"sluice"
)

// TestGitLabSigns: a secret that begins with whsec_ is a signing token, another one is the plain
// token, and while it is changed there may be one of each
// (https://docs.gitlab.com/user/project/integrations/webhooks/#signing-tokens).
func TestGitLabSigns(t *testing.T) {
	const signing, other, plain = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "It's a Secret to Everybody"
	preset, _ := Find("gitlab")
	now := time.Now()
	signed := func(secret string, at time.Time, body string) *Call {
		c := &Call{Method: http.MethodPost, Header: http.Header{"Idempotency-Key": {"d-1"}}, Body: []byte(body)}
		if err := SignStandard(c.Header, secret, "d-1", []byte(`{"a":1}`), at); err != nil {
			t.Fatal(err)
		}
		return c
	}
	carrying := func(token string) *Call {
		return &Call{Method: http.MethodPost, Header: http.Header{"X-Gitlab-Token": {token}}, Body: []byte(`{"a":1}`)}
	}
	for name, test := range map[string]struct {
		secrets []string
		call    *Call
		want    string
	}{
		"signed":                           {[]string{signing}, signed(signing, now, `{"a":1}`), ""},
		"the body was changed":             {[]string{signing}, signed(signing, now, `{"a":2}`), "signature-invalid"},
		"another signing token":            {[]string{signing}, signed(other, now, `{"a":1}`), "signature-invalid"},
		"too old":                          {[]string{signing}, signed(signing, now.Add(-6*time.Minute), `{"a":1}`), "signature-expired"},
		"the signing token as a plain one": {[]string{signing}, carrying(signing), "signature-missing"},
		"the plain token":                  {[]string{plain}, carrying(plain), ""},
		"signed, and a plain token known":  {[]string{plain}, signed(signing, now, `{"a":1}`), "signature-missing"},
		"one of each, signed":              {[]string{plain, signing}, signed(signing, now, `{"a":1}`), ""},
		"one of each, plain":               {[]string{signing, plain}, carrying(plain), ""},
		"one of each, neither":             {[]string{signing, plain}, carrying("guess"), "signature-missing"},
	} {
		v, err := New(preset, test.secrets, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := v.Verify(t.Context(), test.call, now); err != nil {
			got = sluice.AsError(err).Code
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if again := carrying(""); v.Sign(again, now) != nil || v.Verify(t.Context(), again, now) != nil {
			t.Errorf("%s: what was signed here is refused", name)
		}
	}
	if _, err := New(preset, []string{"whsec_%"}, nil); sluice.AsError(err).Parameter != "signingSecret" {
		t.Errorf("a signing token that is none: %v", err)
	}
	for _, p := range Presets() {
		if _, err := time.Parse(time.DateOnly, p.Checked); err != nil {
			t.Errorf("%s does not say when it was last held against its sender's documents: %v", p.Name, err)
		}
		if other, known := Find(p.Also.Provider); p.Also.Secret != "" && (!known || other.checker == nil) {
			t.Errorf("%s names a sender that there is not", p.Name)
		}
	}
}
