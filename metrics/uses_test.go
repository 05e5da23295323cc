package metrics_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/metrics"
)

// TestUses: the last use of a thing is stored with it, once a minute at most, and
// what is gone is not made anew.
func TestUses(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	changes := 0
	store := counted{engine.Secrets, &changes}
	put := func(name string, used time.Time) {
		t.Helper()
		_, err := engine.Secrets.Change(t.Context(), name, func(*sluice.Secret, map[string]*sluice.Secret) (*sluice.Secret, error) {
			return &sluice.Secret{Name: name, Value: "hush", Used: used}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC()
	put("new", time.Time{})
	put("old", now.Add(-time.Hour))
	put("recent", now.Add(-30*time.Second))
	uses := metrics.NewUses(store, func(s *sluice.Secret, _ string) *time.Time { return &s.Used }, log)
	for _, name := range []string{"new", "old", "recent", "gone"} {
		for range 100 {
			uses.Note(name)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var keeping sync.WaitGroup
	keeping.Go(func() { uses.Keep(ctx) })
	stop()
	keeping.Wait()
	for name, changed := range map[string]bool{"new": true, "old": true, "recent": false} {
		secret, err := engine.Secrets.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if since := now.Sub(secret.Used); secret.Value != "hush" || (since < 20*time.Second) != changed {
			t.Errorf("%s was last used %v ago", name, since)
		}
	}
	if gone, _ := engine.Secrets.Get(t.Context(), "gone"); gone != nil || changes != 2 {
		t.Errorf("%d changes, and what is gone is %v", changes, gone)
	}
}

// counted counts what is changed.
type counted struct {
	sluice.Records[sluice.Secret]

	changes *int
}

func (c counted) Change(ctx context.Context, key string, decide func(*sluice.Secret, map[string]*sluice.Secret) (*sluice.Secret, error)) (*sluice.Secret, error) {
	*c.changes++
	return c.Records.Change(ctx, key, decide)
}
