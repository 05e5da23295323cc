package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sluice"
	"sluice/config"
	"sluice/serve"
)

// backups backs a server up while it works, ends it, and goes on with what was
// restored in another folder. All that was acknowledged before the backup began
// must be there. What was acknowledged later may be: it is sent again, as a sender
// does that has not seen the answer, and must not be there twice.
var backups = mode{
	name:    "backup",
	summary: "back up at random moments, and restore elsewhere",
	run: func(ctx context.Context, s settings) error {
		f := &folder{parent: s.dir}
		kill := func(s *server) error { s.kill(); return nil }
		return runTrials(ctx, f, s.trials(
			trial{takeDown: kill, moveOn: func(ctx context.Context, m *move) error {
				m.load.stop()
				return m.backUp(ctx, m.ledger.mark())
			}},
			[]trial{{name: "backup", anyTime: true, takeDown: kill, moveOn: func(ctx context.Context, m *move) error {
				return m.backUp(ctx, m.ledger.mark())
			}}},
			// It is believed that the backup began later than it did.
			trial{name: "negative control", takeDown: kill, mustLose: losses{calls: true, results: true, traces: true},
				moveOn: func(ctx context.Context, m *move) error {
					if err := m.save(ctx); err != nil {
						return err
					}
					sleep(ctx, time.Second)
					return m.restore(ctx, m.ledger.mark())
				}},
		))
	},
}

// A move takes a server that works to another folder.
type move struct {
	*trial

	server *server
	url    string
	load   *load
}

// backUp backs the server up and goes on with what is restored.
func (m *move) backUp(ctx context.Context, begun mark) error {
	if err := m.save(ctx); err != nil {
		return err
	}
	return m.restore(ctx, begun)
}

func (m *move) file() string { return m.data + ".backup" }

// save backs the server up to a file.
func (m *move) save(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/api/v3/command/server.backup", http.NoBody)
	if err != nil {
		return err
	}
	r.SetBasicAuth(sluice.AdminName, adminPassword)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("server.backup: %s", answer.Status)
	}
	file, err := os.Create(m.file())
	if err != nil {
		return err
	}
	_, err = io.Copy(file, answer.Body)
	return errors.Join(err, file.Close())
}

// restore ends the server, makes a new folder of the backup, and forgets what was
// acknowledged since the backup had begun.
func (m *move) restore(ctx context.Context, begun mark) error {
	m.load.stop()
	m.server.kill()
	m.ledger.rewind(begun)
	file, err := os.Open(m.file())
	if err != nil {
		return err
	}
	defer file.Close()
	elsewhere := filepath.Join(filepath.Dir(m.data), fmt.Sprintf("restored-%d", m.done+1))
	cfg, err := config.Load("", nil, map[string]string{"data": elsewhere})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if _, err := serve.Restore(ctx, cfg, file,
		serve.RestoreOptions{Log: log, Progress: func(int64, int64) {}}); err != nil {
		return err
	}
	before := m.data
	m.data = elsewhere
	return errors.Join(os.RemoveAll(before), os.Remove(file.Name()))
}

// A mark is what the ledger had at a moment.
type mark struct {
	receipts int
	hooks    map[*hook]hook
}

// mark notes what the ledger has.
func (l *ledger) mark() mark {
	m := mark{receipts: l.acked(), hooks: make(map[*hook]hook)}
	l.hooks.mu.Lock()
	defer l.hooks.mu.Unlock()
	for _, h := range l.hooks.byKey {
		m.hooks[h] = *h
	}
	return m
}

// rewind takes what was answered since a mark for what may have happened. The calls
// among that are made again.
func (l *ledger) rewind(m mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.receipts[m.receipts:] {
		l.inVain = append(l.inVain, sent{r.id, r.kind})
	}
	l.receipts = l.receipts[:m.receipts]
	for _, h := range l.hooks.byKey {
		was := m.hooks[h] // nothing, if it was not there
		h.uuid, h.version, h.deleted = was.uuid, was.version, was.deleted
	}
}

// recovers waits until the server takes calls and says that it is ready.
func (m *move) recovers(ctx context.Context) error {
	acked := m.ledger.acked()
	for until := time.Now().Add(settleWithin); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx, pause) {
		select {
		case <-m.server.exited:
			return fmt.Errorf("the server ended by itself: %w: %s", m.server.err, m.server.log.text)
		default:
		}
		if m.ledger.acked() > acked && isReady(ctx, m.url) {
			return nil
		}
	}
	return fmt.Errorf("the server is not well again after %v", settleWithin)
}

// isReady asks a server whether it is ready.
func isReady(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := impatient.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
