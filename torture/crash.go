package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sluice"
	sluiceclient "sluice/client"
	"sluice/config"
	"sluice/manifest"
	"sluice/serve"
)

// crashMode takes a server down in the middle of what operators do, and of what it does by
// itself. As root on Linux the power of its disk is cut, otherwise its process is killed.
// Afterwards all that was acknowledged must be there, and what was interrupted is done or
// not done.
var crashMode = mode{
	name:    "crash",
	summary: "take it down during apply, rotation and change of keys, backup and trimming",
	run: func(ctx context.Context, s settings) error {
		d, takeDown, lose := crashDisk(s)
		c := &crash{settings: s, takeDown: takeDown}
		lose.moveOn, lose.inspect = c.during(lose.takeDown, c.rotate), c.rotated
		lose.name, lose.mustLose = "negative control", losses{calls: true, results: true, traces: true}
		return runTrials(ctx, d, s.trials(
			trial{takeDown: takeDown, moveOn: func(_ context.Context, m *move) error { return m.server.stop() }},
			[]trial{
				{name: "apply", moveOn: c.during(takeDown, c.apply), inspect: c.applied},
				{name: "rotate", moveOn: c.during(takeDown, c.rotate), inspect: c.rotated},
				{name: "rekey", options: []string{"secret-key=" + secret}, moveOn: c.rekey},
				{name: "backup", moveOn: c.during(takeDown, c.backUp), inspect: c.backedUp},
				{name: "trim", options: []string{littleRoom}, moveOn: c.trim,
					inspect: func(_ context.Context, t *trial, _ string) error {
						t.options = []string{littleRoom} // again, for the next cycle
						return nil
					}},
			},
			lose,
		))
	},
}

// A crash is what is known of an operation that was interrupted.
type crash struct {
	settings settings
	takeDown func(*server) error

	applies []*hook  // what apply changes
	files   string   // folder of what is applied
	keys    []string // ids of keys that rotations were answered with
	file    string   // the last backup
	whole   bool     // and whether it was sent to its end
}

// during starts an operation under load, and takes the server down in the middle of it.
func (c *crash) during(
	takeDown func(*server) error, operate func(context.Context, *move) error,
) func(context.Context, *move) error {
	return func(ctx context.Context, m *move) error {
		operating, cancel := context.WithCancel(ctx)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- operate(operating, m) }()
		select {
		case err := <-ended:
			return fmt.Errorf("it was not interrupted: %w", err)
		case <-time.After(shortest + c.settings.moment(m.random)):
		}
		err := takeDown(m.server)
		cancel()
		<-ended // in vain, as its server is gone
		return err
	}
}

// rotate replaces the key that signs tokens, again and again.
func (c *crash) rotate(ctx context.Context, m *move) error {
	api := newClient(m.url, 1)
	defer api.close()
	c.keys = nil
	for {
		var key struct {
			ID string `json:"keyId"`
		}
		if err := api.command(ctx, "iam.key.rotate", map[string]any{}, &key); err != nil {
			return err
		}
		c.keys = append(c.keys, key.ID)
		m.ledger.hooks.answered(func() {})
	}
}

// rotated looks for the keys of all rotations that were answered: tokens that they have
// signed must stay valid.
func (c *crash) rotated(ctx context.Context, t *trial, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+sluice.RealmsPath+
		"default/protocol/openid-connect/certs", nil)
	if err != nil {
		return err
	}
	api := newClient(url, 1)
	defer api.close()
	content, err := api.do(r)
	if err != nil {
		return err
	}
	var set struct {
		Keys []struct {
			ID string `json:"kid"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(content, &set); err != nil {
		return err
	}
	there := make(map[string]bool)
	for _, key := range set.Keys {
		there[key.ID] = true
	}
	lost := 0
	for _, id := range c.keys {
		if !there[id] {
			lost++
		}
	}
	t.ledger.hooks.lost += lost
	switch {
	case len(c.keys) == 0:
		return errors.New("no key was rotated")
	case t.mustLose != (losses{}) && len(t.options) > 0 && lost == 0:
		return errors.New("no key is missing: the test can't detect it")
	}
	return nil
}

// appliedHooks is how many webhooks each apply changes.
const appliedHooks = 20

// apply applies one version of webhooks after the other.
func (c *crash) apply(ctx context.Context, m *move) error {
	api, err := sluiceclient.New(m.url, sluiceclient.Password(sluice.AdminName, adminPassword))
	if err != nil {
		return err
	}
	defer api.CloseIdle()
	w := &writer{client: newClient(m.url, 1), hooks: &m.ledger.hooks}
	defer w.client.close()
	for m.done == 0 && len(c.applies) < appliedHooks {
		h, err := w.create(ctx)
		if err != nil {
			return err
		}
		h.applied = true
		c.applies = append(c.applies, h)
	}
	c.files = m.data + ".files"
	for {
		if err := c.next(m); err != nil {
			return err
		}
		plan, err := manifest.Compare(ctx, api, c.files, manifest.Options{})
		if err != nil {
			return err
		}
		made, err := plan.Apply(ctx)
		for _, change := range made {
			m.ledger.hooks.answered(func() {
				h := m.ledger.hooks.byKey[change.Name]
				h.version = h.asked
			})
		}
		if err != nil {
			return err
		}
	}
}

// next writes the next version of the files.
func (c *crash) next(m *move) error {
	folder := filepath.Join(c.files, "webhooks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, h := range c.applies {
		m.ledger.hooks.asking(func() { h.asked++ })
		text := fmt.Sprintf("dedupe: query:id\nmaxPayloadLength: %d\npayloadType: %s\n", maxPayloadLength(h.asked),
			payloadType(h.asked))
		if err := os.WriteFile(filepath.Join(folder, h.key+".yaml"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// applied applies the last version to its end: what was interrupted goes on from there.
func (c *crash) applied(ctx context.Context, t *trial, url string) error {
	api, err := sluiceclient.New(url, sluiceclient.Password(sluice.AdminName, adminPassword))
	if err != nil {
		return err
	}
	defer api.CloseIdle()
	plan, err := manifest.Compare(ctx, api, c.files, manifest.Options{})
	if err != nil {
		return err
	}
	if _, err := plan.Apply(ctx); err != nil {
		return err
	}
	if plan, err = manifest.Compare(ctx, api, c.files, manifest.Options{}); err == nil && len(plan.Changes) > 0 {
		err = fmt.Errorf("%d things are not as they were applied", len(plan.Changes))
	}
	return errors.Join(err, c.reread(ctx, t, api))
}

// reread takes what webhooks are now as what they have to be.
func (c *crash) reread(ctx context.Context, t *trial, api *sluiceclient.Client) error {
	var found []sluice.Webhook
	if err := api.Decode(ctx, "webhook.get", nil, nil, &found); err != nil {
		return err
	}
	for i := range found {
		if h := t.ledger.hooks.byKey[found[i].EventKey]; h != nil && h.applied {
			h.version = found[i].MaxPayloadLength - maxPayloadLength(0)
			h.asked = h.version
		}
	}
	return nil
}

// backUp makes one backup after the other.
func (c *crash) backUp(ctx context.Context, m *move) error {
	c.file = m.file()
	for {
		c.whole = false
		if err := m.save(ctx); err != nil {
			return err
		}
		c.whole = true
	}
}

// backedUp restores the last backup elsewhere: it is complete, or it is refused.
func (c *crash) backedUp(ctx context.Context, _ *trial, _ string) error {
	elsewhere, err := os.MkdirTemp(c.settings.dir, "torture-restored-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(elsewhere) }()
	file, err := os.Open(c.file)
	if err != nil {
		return err
	}
	defer file.Close()
	cfg, err := config.Load("", nil, map[string]string{"data": filepath.Join(elsewhere, "data")})
	if err != nil {
		return err
	}
	_, err = serve.Restore(ctx, cfg, file, serve.RestoreOptions{
		Log: slog.New(slog.DiscardHandler), Progress: func(int64, int64) {},
	})
	switch {
	case c.whole && err != nil:
		return fmt.Errorf("a backup that was sent to its end is refused: %w", err)
	case !c.whole && err == nil:
		return errors.New("a backup that was interrupted is restored as if it was complete")
	}
	return nil
}
