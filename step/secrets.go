package step

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/seal"
	"sluice/spelling"
)

// Secrets keeps values that pipelines use and nobody reads back. They are
// stored sealed, each bound to its name.
type Secrets struct {
	records sluice.Records[sluice.Secret]
	box     *seal.Box
}

// NewSecrets returns the secrets in a store.
func NewSecrets(records sluice.Records[sluice.Secret], box *seal.Box) *Secrets {
	return &Secrets{records, box}
}

// Put stores a secret, in place of the one of that name if there is one.
func (s *Secrets) Put(ctx context.Context, name, value string) error {
	sealed := s.box.Seal(name, []byte(value))
	_, err := s.records.Change(ctx, name, func(*sluice.Secret, map[string]*sluice.Secret) (*sluice.Secret, error) {
		return &sluice.Secret{Name: name, Sealed: sealed, Updated: time.Now().UTC()}, nil
	})
	return err
}

// Delete removes a secret, NotFound if there is none.
func (s *Secrets) Delete(ctx context.Context, name string) error {
	_, err := s.records.Change(ctx, name, func(before *sluice.Secret, all map[string]*sluice.Secret) (*sluice.Secret, error) {
		if before == nil {
			return nil, unknown(name, slices.Collect(maps.Values(all)))
		}
		return nil, nil
	})
	return err
}

// Reveal returns the value of a secret, NotFound if there is none. Who
// reveals it keeps it out of what people read.
func (s *Secrets) Reveal(ctx context.Context, name string) (string, error) {
	record, err := s.records.Get(ctx, name)
	if err != nil {
		return "", err
	}
	if record == nil {
		return "", unknown(name, s.records.All())
	}
	value, err := s.box.Open(name, record.Sealed)
	if err != nil {
		return "", sluice.Errorf(sluice.Internal, "secret-sealed",
			"The secret %s can't be opened: it was sealed with another key. Start the server with the key it had then (SLUICE_SECRET_KEY), or put the secret again.", name).Because(err)
	}
	return string(value), nil
}

// list returns all secrets in the order of their names.
func (s *Secrets) list() []*sluice.Secret {
	all := s.records.All()
	slices.SortFunc(all, func(a, b *sluice.Secret) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// unknown says that there is no secret of that name, and which may be meant.
func unknown(name string, all []*sluice.Secret) error {
	names := make([]string, len(all))
	for i, record := range all {
		names[i] = record.Name
	}
	hint := "secret.put stores one."
	if near := spelling.Nearest(name, names); near != "" {
		hint = "Did you mean " + near + "?"
	}
	return sluice.Errorf(sluice.NotFound, "secret-unknown", "There is no secret %q. %s", cut(name, maxSecretName), hint)
}
