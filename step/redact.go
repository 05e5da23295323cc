package step

import (
	"cmp"
	"slices"
	"strings"

	"sluice"
)

// shortestRedacted is how long a secret must be to be looked for: a shorter one
// occurs everywhere by chance.
const shortestRedacted = 4

const redacted = "[secret]"

// Redact replaces the secrets that were revealed so far where they occur in a
// text, as they are or as JSON writes them. What a pipeline has made of a secret
// (its base64, say) it can't know.
func (s *Secrets) Redact(text string) string {
	if s == nil {
		return text
	}
	s.mu.RLock()
	redactor := s.redactor
	s.mu.RUnlock()
	if redactor == nil {
		return text
	}
	return redactor.Replace(text)
}

// remember lets Redact know a value.
func (s *Secrets) remember(name, value string) {
	s.mu.RLock()
	before, known := s.revealed[name]
	s.mu.RUnlock()
	if known && before == value {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revealed[name] = value
	s.redactor = redactorOf(s.revealed)
}

func redactorOf(revealed map[string]string) *strings.Replacer {
	var values []string
	for _, value := range revealed {
		if len(value) >= shortestRedacted {
			quoted := string(sluice.AppendJSONString(nil, value))
			values = append(values, value, quoted[1:len(quoted)-1])
		}
	}
	if values == nil {
		return nil
	}
	// A secret may have another one in it.
	slices.SortFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, value := range values {
		pairs = append(pairs, value, redacted)
	}
	return strings.NewReplacer(pairs...)
}
