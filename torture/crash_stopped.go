package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"sluice/config"
	"sluice/seal"
	"sluice/serve"
)

const rekeyPart = "rekey"

// runRekey is the process that seals all records with another key: the one before, and
// the new one.
func runRekey(ctx context.Context, data string, options []string) error {
	endWithParent()
	cfg, err := config.Load("", nil, map[string]string{"data": data, "secret-key": options[0]})
	if err != nil {
		return err
	}
	return serve.Rekey(ctx, cfg, options[1], slog.New(slog.DiscardHandler), func(step string) { fmt.Println(step) })
}

// rekey interrupts a change of the key that seals all records: the server must start with
// the key before or with the new one. Then it is changed to the end, and the key before
// must open nothing any more.
func (c *crash) rekey(ctx context.Context, m *move) error {
	m.load.stop()
	if err := m.server.stop(); err != nil {
		return err
	}
	before, after := m.options[0], "secret-key="+seal.NewKey()
	args := []string{rekeyPart, m.data, before[len("secret-key="):], after[len("secret-key="):]}
	rekeying, err := launchPart(args...)
	if err != nil {
		return err
	}
	sleep(ctx, c.settings.moment(m.random)/2)
	if err := c.takeDown(rekeying); err != nil {
		return err
	}
	if !starts(ctx, m.data, after) && !starts(ctx, m.data, before) {
		return errors.New("the server starts with neither key")
	}
	again, err := launchPart(args...)
	if err != nil {
		return err
	}
	if <-again.exited; again.err != nil {
		args[2] = args[3] // it was done already: the new key is the one before
		if again, err = launchPart(args...); err != nil {
			return err
		}
		if <-again.exited; again.err != nil {
			return fmt.Errorf("changing the key again: %w: %s", again.err, again.log.text)
		}
	}
	m.options = []string{after}
	if starts(ctx, m.data, before) {
		return errors.New("the server starts with the key before")
	}
	return nil
}

// starts reports whether a server starts.
func starts(ctx context.Context, data string, options ...string) bool {
	s, err := launch(data, options...)
	if err != nil {
		return false
	}
	defer s.kill()
	if _, err = s.ready(ctx); err != nil {
		return false
	}
	return s.stop() == nil
}

// littleRoom makes a server remove events soon.
const littleRoom = "event-max-bytes=1MiB"

// trim takes the server down while the oldest events are removed for new ones. No newer
// one may be missing.
func (c *crash) trim(ctx context.Context, m *move) error {
	const fills = 1000 // calls take more room than there is
	for filled := m.ledger.acked() + fills; m.ledger.acked() < filled && ctx.Err() == nil; {
		sleep(ctx, pause)
	}
	sleep(ctx, c.settings.moment(m.random))
	if err := c.takeDown(m.server); err != nil {
		return err
	}
	m.load.stop()
	if !starts(ctx, m.data, m.options...) {
		return errors.New("the server does not start again")
	}
	m.options = nil // nothing more is removed until all is checked
	stored, err := readEvents(ctx, m.data)
	if err != nil {
		return err
	}
	return m.ledger.trimmed(stored)
}
