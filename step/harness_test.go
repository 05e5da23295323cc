package step_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice"
	"sluice/command"
	"sluice/step"
)

type args map[string]any

// call runs a command as pipelines do: by name, through the set, as a user, in a
// run.
func call(ctx context.Context, set command.Set, name string, given args) (any, error) {
	if sluice.RunFrom(ctx) == nil {
		ctx = sluice.WithRun(ctx, &sluice.Run{})
	}
	c, ok := set.Find(name)
	if !ok {
		panic("there is no command " + name)
	}
	var list command.Args
	for _, key := range slices.Sorted(maps.Keys(given)) {
		list = append(list, command.Arg{Name: key, Value: given[key]})
	}
	return set.Call(sluice.WithUser(ctx, sluice.User{Name: "someone", Permissions: []string{"*"}}), c, list)
}

func newSet(o step.Options) command.Set {
	if o.UsersOf == nil {
		o.UsersOf = func(string) sluice.SecretUsers { return sluice.SecretUsers{} }
	}
	return command.NewSet(func(context.Context, sluice.AuditEntry) {}, step.Commands(o))
}

// refuses checks that an error has a kind and a code, and says something.
func refuses(t *testing.T, err error, kind sluice.Kind, code, says string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was accepted")
	}
	if e := sluice.AsError(err); e.Kind != kind || e.Code != code || !strings.Contains(e.Message, says) {
		t.Errorf("got kind %s, %s: %s; want kind %s, %s: …%s…", e.Kind, e.Code, e.Message, kind, code, says)
	}
}

// stored is a store of records in memory.
type stored[T any] struct {
	mu      sync.Mutex
	records map[string]*T
}

func newStored[T any]() *stored[T] { return &stored[T]{records: map[string]*T{}} }

func (s *stored[T]) Get(_ context.Context, key string) (*T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[key], nil
}

func (s *stored[T]) All() []*T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.records))
}

func (s *stored[T]) Change(_ context.Context, key string, decide func(*T, map[string]*T) (*T, error)) (*T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after, err := decide(s.records[key], s.records)
	switch {
	case err != nil:
		return nil, err
	case after == nil:
		delete(s.records, key)
	default:
		s.records[key] = after
	}
	return after, nil
}
