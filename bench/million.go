package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"sluice"
	"sluice/durable"
	"sluice/jetstream"
	"sluice/seal"
)

const (
	millionWebhooks = 1_000_000
	millionSpell    = 5 * time.Second // that each kind of work is done for
)

// measureMillion measures how long calls are held up at most while webhooks are
// listed, stored and deleted among a million.
func measureMillion(ctx context.Context, b *bench) error {
	key := seal.NewKey()
	tokens, err := b.storeWebhooks(ctx, "million", key, millionWebhooks)
	if err != nil {
		return err
	}
	s, err := b.startSluice(ctx, "million", groupCommit, "secret-key="+key)
	if err != nil {
		return err
	}
	progressf("ready %d ms after the start with %s webhooks", s.ready.Milliseconds(), grouped(millionWebhooks))
	return b.measureAmongMany(ctx, s, tokens)
}

// measureAmongMany measures calls beside each chore.
func (b *bench) measureAmongMany(ctx context.Context, s *server, tokens []string) error {
	if err := s.awaitAdmin(ctx); err != nil {
		return err
	}
	if err := s.post(ctx, "/signin", "", url.Values{
		"username": {"admin"}, "password": {adminPassword}, "next": {"/me"},
	}, nil); err != nil {
		return err
	}
	if size, known := resident(s.process); known {
		b.table.add("resident memory with 1,000,000 webhooks", grouped(size/1e6)+" MB")
	}
	for _, work := range s.millionWork(tokens) {
		if err := b.measureBeside(ctx, s, tokens, work); err != nil {
			return fmt.Errorf("%s: %w", work.name, err)
		}
	}
	return nil
}

// storeWebhooks stores webhooks in the data folder of a server that does not run yet:
// to create them one by one would take longer than all the rest.
func (b *bench) storeWebhooks(ctx context.Context, name, key string, n int) (tokens []string, err error) {
	folder, err := durable.OpenFolder(filepath.Join(b.part, name))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	engine, err := jetstream.OpenRecords(ctx, jetstream.Options{
		Dir:  folder.Store(),
		Log:  slog.New(slog.DiscardHandler),
		Sync: jetstream.NoSync, // a power cut would only cost a benchmark
		Box: func(bool) (*seal.Box, error) {
			parsed, err := seal.ParseKey(key)
			if err != nil {
				return nil, err
			}
			return seal.New(parsed)
		},
	})
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	const atOnce = 200
	tokens = make([]string, n)
	return tokens, inParallel(ctx, atOnce, n, func(ctx context.Context, i int) error {
		if i > 0 && i%100_000 == 0 {
			progressf("%s of %s webhooks stored", grouped(float64(i)), grouped(float64(n)))
		}
		now := time.Now().UTC().Truncate(time.Millisecond)
		tokens[i] = uuid.NewString()
		hook := &sluice.Webhook{
			UUID: tokens[i], EventKey: benchKey(i), PayloadType: sluice.Base64,
			MaxPayloadLength: sluice.DefaultPayloadLength, Created: now, Updated: now,
		}
		_, err := engine.Webhooks.Change(ctx, tokens[i],
			func(*sluice.Webhook, map[string]*sluice.Webhook) (*sluice.Webhook, error) {
				return hook, nil
			})
		return err
	})
}

// A chore is something that users do again and again while others call webhooks.
type chore struct {
	name string
	do   func(ctx context.Context, number int) error
}

// millionWork is what is done among the webhooks of those tokens: nothing first, so
// that the machine's own pauses are known.
func (c *client) millionWork(tokens []string) []chore {
	search := func(ctx context.Context, args url.Values) error {
		return c.command(ctx, "webhook.get", args, nil)
	}
	edit := func(ctx context.Context, number int) error {
		token := tokens[rand.IntN(len(tokens))]
		return c.command(ctx, "webhook.put", url.Values{"uuid": {token}, "description": {strconv.Itoa(number)}}, nil)
	}
	page := func(ctx context.Context, _ int) error {
		return search(ctx, url.Values{"limit": {"100"}, "after": {benchKey(rand.IntN(len(tokens)))}})
	}
	visit := func(ctx context.Context, path string) error {
		_, err := c.page(ctx, path)
		return err
	}
	return []chore{
		{"nothing", func(ctx context.Context, _ int) error { pause(ctx, time.Millisecond); return nil }},
		{"pages of webhook.get", page},
		{"webhook.get with search", func(ctx context.Context, _ int) error {
			return search(ctx, url.Values{"limit": {"100"}, "search": {strconv.Itoa(rand.IntN(len(tokens)))}})
		}},
		{"webhook.put of edits", edit},
		{"webhook.put of new ones and webhook.delete", func(ctx context.Context, number int) error {
			token, err := c.createWebhook(ctx, fmt.Sprintf("webhook.new.%d", number))
			if err != nil {
				return err
			}
			return c.command(ctx, "webhook.delete", url.Values{"uuid": {token}}, nil)
		}},
		{"edits and pages in turn", func(ctx context.Context, number int) error {
			return errors.Join(edit(ctx, number), page(ctx, number))
		}},
		{"edits and pages of the portal in turn", func(ctx context.Context, number int) error {
			return errors.Join(edit(ctx, number), visit(ctx, "/webhooks"),
				visit(ctx, "/webhooks?search="+strconv.Itoa(number)))
		}},
	}
}

// measureBeside adds how long a call takes at most, one every 5 ms, while a user
// does a chore again and again.
func (b *bench) measureBeside(ctx context.Context, s *server, tokens []string, work chore) error {
	const every = 5 * time.Millisecond
	spell, cancel := context.WithTimeout(ctx, millionSpell)
	defer cancel()
	done, failed := 0, make(chan error)
	go func() {
		var err error
		for ; err == nil && spell.Err() == nil; done++ {
			err = work.do(ctx, done)
		}
		failed <- err
	}()
	times, err := s.callEvery(spell, ctx, every, tokens)
	if err := errors.Join(err, <-failed); err != nil {
		return err
	}
	longest := slices.Max(times)
	text := fmt.Sprintf("%.0f ms; %s; done %s times", longest, percentiles(times), grouped(float64(done)))
	b.table.hold("longest call, one every 5 ms, among 1,000,000 webhooks, beside "+work.name, text, longest,
		under(50, "50 ms"))
	progressf("beside %s: %s", work.name, text)
	return nil
}

// callEvery calls webhooks at a steady rate until the spell is over, whether or not
// the calls before were answered, and gives their times in milliseconds, from when
// they were due.
func (c *client) callEvery(
	spell, ctx context.Context, every time.Duration, tokens []string,
) (times []float64, err error) {
	var mu sync.Mutex
	var running sync.WaitGroup
	for due := time.Now(); spell.Err() == nil; due = due.Add(every) {
		pause(spell, time.Until(due))
		running.Go(func() {
			_, failed := c.send(ctx, newReceive(tokens[rand.IntN(len(tokens))]))
			took := milliseconds(due)
			mu.Lock()
			defer mu.Unlock()
			if times = append(times, took); failed != nil {
				err = failed
			}
		})
	}
	running.Wait()
	return times, err
}
