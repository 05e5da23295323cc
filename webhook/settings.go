package webhook

import (
	"encoding/json"
	"strings"
	"time"

	"sluice"
)

// settings are what a webhook demands of its calls.
type settings sluice.Trust

// settingsOf returns the settings of a webhook.
func settingsOf(hook *sluice.Webhook) settings {
	if hook.Trust == nil {
		return settings{}
	}
	return settings(*hook.Trust)
}

// trust returns settings as they are stored, nil if nothing is demanded.
func (s settings) trust() *sluice.Trust {
	if s.Provider == "" && s.Signature == nil && s.Signing == "" && s.VerifyToken == "" && s.Dedupe == "" && s.DedupeWindow == 0 && s.Schema == nil {
		return nil
	}
	t := sluice.Trust(s)
	return &t
}

// window returns how long the ids of deliveries count.
func (s settings) window() time.Duration {
	if s.DedupeWindow == 0 {
		return sluice.DefaultDedupeWindow
	}
	return s.DedupeWindow
}

// document returns the JSON of a parameter that is a JSON value or its text; nil
// to remove what is there.
func document(parameter string, given any) (json.RawMessage, error) {
	switch v := given.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
		if !json.Valid([]byte(v)) {
			return nil, sluice.InvalidParameter(parameter, "The parameter %s must be JSON.", parameter)
		}
		return json.RawMessage(v), nil
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, sluice.InvalidParameter(parameter, "The parameter %s must be JSON.", parameter)
	}
	return text, nil
}
