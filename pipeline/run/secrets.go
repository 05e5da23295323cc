package run

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"

	"sluice"
	"sluice/value"
)

// Secrets are the secrets that a run and its inner runs have used. They are cut out of
// everything that people see.
type Secrets struct {
	mu       sync.Mutex
	values   []string
	replacer *strings.Replacer // cuts them out of texts; nil: there are none
	longest  int               // bytes of the longest form that replacer knows
}

// What stands for a secret, and for the end of a text that was cut off.
const (
	Redacted = "***"
	Cut      = "…"
)

// leastSecret is how many bytes a secret needs to be cut out of texts. Shorter ones would
// match by chance, so they only match whole values.
const leastSecret = 4

type secretsKey struct{}

// secretsOf returns the secrets of the run that ctx belongs to, and a context for its
// inner runs.
func secretsOf(ctx context.Context) (*Secrets, context.Context) {
	if s, ok := ctx.Value(secretsKey{}).(*Secrets); ok {
		return s, ctx
	}
	s := &Secrets{}
	return s, context.WithValue(ctx, secretsKey{}, s)
}

// SecretsFrom returns the secrets of the run that ctx belongs to.
func SecretsFrom(ctx context.Context) *Secrets {
	s, _ := secretsOf(ctx)
	return s
}

// add remembers a secret in the forms in which it may appear.
func (s *Secrets) add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret == "" || slices.Contains(s.values, secret) {
		return
	}
	s.values = append(s.values, secret)
	var forms []string
	for _, v := range s.values {
		if len(v) >= leastSecret {
			forms = append(forms, spellings(v)...)
		}
	}
	if forms == nil {
		return
	}
	// If one form is part of another, the longer one must go first.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, Redacted)
	}
	s.replacer, s.longest = strings.NewReplacer(pairs...), len(forms[0])
}

// spellings returns a secret plain, in JSON, in URLs, and in base64.
func spellings(secret string) []string {
	plain := string(value.AppendString(nil, secret))
	forms := []string{secret, plain[1 : len(plain)-1]}
	if escaped, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(escaped[1:len(escaped)-1]))
	}
	forms = append(forms,
		url.QueryEscape(secret),
		url.PathEscape(secret),
		strings.ReplaceAll(secret, " ", "%20"), // as the query of http.request has it
		base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.URLEncoding.EncodeToString([]byte(secret)),
		base64.RawStdEncoding.EncodeToString([]byte(secret)),
	)
	slices.Sort(forms)
	return slices.Compact(forms)
}

func (s *Secrets) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values) > 0
}

// has reports whether a whole value is a secret.
func (s *Secrets) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.values, text)
}

// hideText returns a text without secrets.
func (s *Secrets) hideText(text string) string {
	s.mu.Lock()
	replacer := s.replacer
	s.mu.Unlock()
	if replacer == nil {
		return text
	}
	return replacer.Replace(text)
}

// HideStart returns the beginning of a text, without secrets. A longer text may have been
// cut off within a secret, so as many bytes as a secret can have are left out at its end.
func (s *Secrets) HideStart(text string, limit int) string {
	hidden := s.hideText(text)
	if len(text) <= limit && len(hidden) <= limit {
		return hidden
	}
	s.mu.Lock()
	end := min(len(hidden)-s.longest, limit-len(Cut))
	s.mu.Unlock()
	return strings.ToValidUTF8(hidden[:max(0, end)], "") + Cut
}

// Hide returns a value without secrets.
func (s *Secrets) Hide(v any) any {
	if !s.any() {
		return v
	}
	switch v := v.(type) {
	case string:
		if s.has(v) {
			return Redacted
		}
		return s.hideText(v)
	case int, float64, json.Number:
		if text, err := value.AppendJSON(nil, v, math.MaxInt); err == nil && s.has(string(text)) {
			return Redacted
		}
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = s.Hide(item)
		}
		return items
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, field := range v {
			fields[s.hideText(name)] = s.Hide(field)
		}
		return fields
	}
	return v
}

// hideError returns an error without secrets, its cause included.
func (s *Secrets) hideError(e *sluice.Error) *sluice.Error {
	if !s.any() {
		return e
	}
	hidden := e.Saying(s.hideText(e.Message)).About(s.hideText(e.Parameter))
	if e.Said != nil {
		said := *e.Said
		said.Message = s.hideText(said.Message)
		hidden = hidden.Telling(said)
	}
	if e.Err != nil {
		if cause := s.hideText(e.Err.Error()); cause != e.Err.Error() {
			return hidden.Because(errors.New(cause))
		}
	}
	return hidden
}

// withName adds a name to a short list, unless it is there.
func withName(names []string, name string) []string {
	const most = 20
	if name == "" || slices.Contains(names, name) || len(names) == most {
		return names
	}
	return append(names, name)
}

// reveal returns a secret to an expression if the owner of the run may use secrets, and
// remembers it: for the rest of the run, and to hide it from people.
func (x *execution) reveal(ctx context.Context, name string) (string, error) {
	if v, known := x.revealed[name]; known {
		return v, nil
	}
	x.scope.Work.Rest()
	owner, err := x.run.Owner(ctx)
	switch {
	case err != nil:
		return "", sluice.OwnerError(err)
	case !owner.May(sluice.MayUseSecrets):
		return "", sluice.OwnerNotPermitted(sluice.MayUseSecrets)
	}
	v, err := x.environment.Secret(sluice.UsingSecrets(ctx, owner), name)
	if err == nil {
		x.secrets.add(v)
		x.used = withName(x.used, name)
		x.revealed[name] = v
	}
	return v, err
}
