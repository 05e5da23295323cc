package webhook

import (
	"encoding/json"
	"time"

	"sluice"
	"sluice/seal"
)

// settings are what a webhook demands of its calls, with its secrets readable.
type settings struct {
	provider  string
	signature json.RawMessage // nil: none
	dedupe    string          // "": as the provider has it
	window    time.Duration   // 0: the default
	schema    json.RawMessage // nil: none
	secrets
}

// secrets are the settings that are stored sealed.
type secrets struct {
	Signing     string `json:"signing,omitempty"` // as it was given: one, two with a comma, or names of stored ones
	VerifyToken string `json:"verifyToken,omitempty"`
}

// sealedName is what the secrets of a webhook are sealed for: those of another
// one don't open.
func sealedName(token string) string { return "webhook " + token }

// open gives the settings of a webhook.
func open(hook *sluice.Webhook, box *seal.Box) (s settings, err error) {
	t := hook.Trust
	if t == nil {
		return s, nil
	}
	s = settings{provider: t.Provider, signature: t.Signature, dedupe: t.Dedupe, window: t.DedupeWindow, schema: t.Schema}
	if t.Sealed == nil {
		return s, nil
	}
	text, err := box.Open(sealedName(hook.UUID), t.Sealed)
	if err == nil {
		err = json.Unmarshal(text, &s.secrets)
	}
	if err != nil {
		return s, sluice.Errorf(sluice.Unavailable, "signing-secret-sealed",
			"The signing secret of this webhook can't be opened: it was sealed with another key. Start the server with the key it had then (SLUICE_SECRET_KEY), or set signingSecret again.").Because(err)
	}
	return s, nil
}

// close gives settings as they are stored, nil if nothing is demanded.
func (s *settings) close(token string, box *seal.Box) (*sluice.Trust, error) {
	t := &sluice.Trust{Provider: s.provider, Signature: s.signature, Dedupe: s.dedupe, DedupeWindow: s.window, Schema: s.schema}
	empty := s.provider == "" && s.signature == nil && s.dedupe == "" && s.window == 0 && s.schema == nil
	if s.secrets != (secrets{}) {
		text, err := json.Marshal(s.secrets)
		if err != nil {
			return nil, err
		}
		t.Sealed, empty = box.Seal(sealedName(token), text), false
	}
	if empty {
		return nil, nil
	}
	return t, nil
}

// dedupeWindow gives how long the ids of deliveries count.
func (s *settings) dedupeWindow() time.Duration {
	if s.window == 0 {
		return sluice.DefaultDedupeWindow
	}
	return s.window
}
