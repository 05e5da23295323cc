package step

import (
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/spelling"
)

// Secrets keeps values for pipelines that nobody can read back.
type Secrets struct {
	records sluice.Records[sluice.Secret]
	used    func(name string)
}

// NewSecrets returns the secrets in a store, which must seal its records. used is called
// at each use.
func NewSecrets(records sluice.Records[sluice.Secret], used func(name string)) *Secrets {
	return &Secrets{records, used}
}

// Put stores a secret, and replaces the one of that name.
func (s *Secrets) Put(ctx context.Context, name, value string) error {
	_, err := sluice.Replace(ctx, s.records, name, func(before *sluice.Secret) (*sluice.Secret, error) {
		after := &sluice.Secret{Name: name, Value: value, Updated: time.Now().UTC()}
		if before != nil {
			after.Used = before.Used
		}
		return after, nil
	})
	return err
}

// Delete removes a secret, NotFound if there is none.
func (s *Secrets) Delete(ctx context.Context, name string) error {
	return sluice.Delete(ctx, s.records, name, s.unknown(ctx, name))
}

// Reveal returns the value of a secret for a look, which is no use: NotFound if there is
// none, or none that the user of ctx covers. The caller must hide it from people.
func (s *Secrets) Reveal(ctx context.Context, name string) (string, error) {
	record, err := s.find(ctx, name)
	if err != nil {
		return "", err
	}
	return record.Value, nil
}

// Use is Reveal for a use.
func (s *Secrets) Use(ctx context.Context, name string) (string, error) {
	value, err := s.Reveal(ctx, name)
	if err == nil {
		s.used(name)
	}
	return value, err
}

// find returns a secret, NotFound if there is none.
func (s *Secrets) find(ctx context.Context, name string) (*sluice.Secret, error) {
	record, err := s.records.Get(ctx, name)
	if err == nil && (record == nil || !sluice.CoverFrom(ctx).Name(name)) {
		err = s.unknown(ctx, name)
	}
	return record, err
}

// all returns the secrets that are covered.
func (s *Secrets) all(ctx context.Context) []*sluice.Secret {
	cover := sluice.CoverFrom(ctx)
	return slices.DeleteFunc(s.records.All(), func(secret *sluice.Secret) bool { return !cover.Name(secret.Name) })
}

func (s *Secrets) missing(ctx context.Context, _, name string) error { return s.unknown(ctx, name) }

// unknown is the error for an unknown name. It suggests a similar one.
func (s *Secrets) unknown(ctx context.Context, name string) error {
	known := s.all(ctx)
	names := make([]string, len(known))
	for i, record := range known {
		names[i] = record.Name
	}
	hint := ""
	if near := spelling.Nearest(name, names); near != "" {
		hint = " Did you mean " + near + "?"
	} else if sluice.CoverFrom(ctx).Name(name) {
		hint = " secret.put stores one."
	}
	return sluice.CodeSecretUnknown.Errorf("There is no secret %q.%s", sluice.Shorten(name, maxSecretName), hint)
}
