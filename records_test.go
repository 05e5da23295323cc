package sluice_test

import (
	"context"
	"errors"
	"testing"

	"sluice"
)

// roles is a store of roles in memory. Each change is decided twice, as it is when another one
// comes between.
type roles map[string]*sluice.Role

func (r roles) Get(_ context.Context, key string) (*sluice.Role, error) { return r[key], nil }

func (r roles) All() []*sluice.Role { return nil }

func (r roles) Change(_ context.Context, key string, decide func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error)) (*sluice.Role, error) {
	_, _ = decide(r[key], r)
	after, err := decide(r[key], r)
	if err != nil {
		return nil, err
	}
	if r[key] = after; after == nil {
		delete(r, key)
	}
	return after, nil
}

func TestRecordsAreEdited(t *testing.T) {
	errMissing, errRefused := errors.New("missing"), errors.New("refused")
	before := &sluice.Role{Name: "ops"}
	store := roles{"ops": before}
	edit := func(key string, missing, refused error) (*sluice.Role, error) {
		return sluice.Edit(t.Context(), store, key, missing, func(r *sluice.Role) error {
			r.Name += "!"
			return refused
		})
	}
	for name, want := range map[string]struct{ missing, refused, err error }{
		"ops":     {errMissing, errRefused, errRefused},
		"missing": {errMissing, nil, errMissing},
		"same":    {sluice.ErrUnchanged, nil, nil},
	} {
		if after, err := edit(name, want.missing, want.refused); after != nil || !errors.Is(err, want.err) {
			t.Errorf("%s: the edit returns %v, %v", name, after, err)
		}
	}
	if after, err := edit("ops", errMissing, sluice.ErrUnchanged); after != nil || err != nil || store["ops"] != before {
		t.Errorf("an edit of nothing returns %v, %v", after, err)
	}
	after, err := edit("ops", errMissing, nil)
	if err != nil || after.Name != "ops!" || store["ops"] != after || before.Name != "ops" {
		t.Errorf("the edit returns %v, %v; before it was %v", after, err, before)
	}
}

func TestRecordsAreStoredAndDeleted(t *testing.T) {
	errMissing := errors.New("missing")
	store, role := roles{}, &sluice.Role{Name: "ops"}
	if err := sluice.Put(t.Context(), store, "ops", role); err != nil || store["ops"] != role {
		t.Errorf("%v: the store has %v", err, store)
	}
	if err := sluice.Delete(t.Context(), store, "ops", errMissing); err != nil || len(store) > 0 {
		t.Errorf("%v: the store has %v", err, store)
	}
	if err := sluice.Delete(t.Context(), store, "ops", errMissing); !errors.Is(err, errMissing) {
		t.Errorf("what is not there is deleted: %v", err)
	}
	if err := sluice.Remove(t.Context(), store, "ops"); err != nil {
		t.Errorf("what is not there is not removed: %v", err)
	}
}
