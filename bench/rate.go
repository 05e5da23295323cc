package main

import "context"

// measureRate compares the server with a bare handler and with the engine's own
// sync of each message.
func measureRate(ctx context.Context, b *bench) error {
	baseline, err := b.startBaseline(ctx)
	if err != nil {
		return err
	}
	shipped, err := b.startReceiver(ctx, "sluice", groupCommit)
	if err != nil {
		return err
	}
	synced, err := b.startReceiver(ctx, "sluice-sync-always", engineSync)
	if err != nil {
		return err
	}
	plain := shipped.to(baseline.client) // the very same calls: it doesn't look at tokens
	bare := &contender{name: "bare handler, 64 connections", load: plain}
	sluice := &contender{name: "sluice, 64 connections", load: shipped}
	always := &contender{name: "sluice with the engine's sync-always, 64 connections", load: synced}
	if err := b.compare(ctx, []*contender{bare, sluice, always},
		ratio{"sluice to bare handler, 64 connections", sluice, bare, atLeast(0.50, "0.50")},
		ratio{"sluice to sync-always, 64 connections", sluice, always, atLeast(2.5, "2.5")},
	); err != nil {
		return err
	}
	bare = &contender{name: "bare handler, 256 connections", load: plain.over(256)}
	sluice = &contender{name: "sluice, 256 connections", load: shipped.over(256)}
	return b.compare(ctx, []*contender{bare, sluice},
		ratio{"sluice to bare handler, 256 connections", sluice, bare, bar{}})
}

// startReceiver starts a server with one webhook and returns the load that
// calls it.
func (b *bench) startReceiver(ctx context.Context, name, mode string, settings ...string) (load, error) {
	s, tokens, err := b.startWithWebhooks(ctx, name, 1, mode, settings...)
	if err != nil {
		return load{}, err
	}
	return b.newLoad(s.client, name, tokens)
}
