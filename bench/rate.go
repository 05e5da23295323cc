package main

import "context"

// measureRate compares the server with a bare handler and with the engine's own
// sync of each message.
func measureRate(ctx context.Context, b *bench) error {
	bare, err := b.startBare(ctx)
	if err != nil {
		return err
	}
	grouped, err := b.startReceiver(ctx, "sluice", groupCommit)
	if err != nil {
		return err
	}
	synced, err := b.startReceiver(ctx, "sluice-sync-always", engineSync)
	if err != nil {
		return err
	}
	// The bare handler gets the very same calls; it doesn't look at tokens.
	plain := grouped
	plain.address = bare.address
	if err := b.compare(ctx, plain, grouped, synced); err != nil {
		return err
	}
	return b.compareWider(ctx, plain, grouped)
}

// startReceiver starts a server with one webhook and gives the load that calls it.
func (b *bench) startReceiver(ctx context.Context, name, sync string) (load, error) {
	s, err := b.startSluice(ctx, name, sync)
	if err != nil {
		return load{}, err
	}
	tokens, err := createWebhooks(ctx, s, 1)
	if err != nil {
		return load{}, err
	}
	file, err := b.tokenFile(name, tokens)
	return load{address: s.address, tokens: file, connections: 64, size: bodySize}, err
}

// compare adds the figures at 64 connections, which have bars.
func (b *bench) compare(ctx context.Context, plain, grouped, synced load) error {
	bare := &contender{name: "bare handler", load: plain}
	sluice := &contender{name: "sluice", load: grouped}
	always := &contender{name: "sluice with the engine's sync-always", load: synced}
	if err := b.race(ctx, bare, sluice, always); err != nil {
		return err
	}
	for _, c := range []*contender{bare, sluice, always} {
		b.table.add(c.name+", 64 connections", c.String())
	}
	middle, least, most := ratios(sluice, bare)
	b.table.hold("sluice to bare handler, 64 connections", span(middle, least, most), "at least 0.50", middle >= 0.50)
	middle, least, most = ratios(sluice, always)
	b.table.hold("sluice to sync-always, 64 connections", span(middle, least, most), "at least 2.5", middle >= 2.5)
	return nil
}

// compareWider adds the figures at 256 connections.
func (b *bench) compareWider(ctx context.Context, plain, grouped load) error {
	plain.connections, grouped.connections = 256, 256
	bare := &contender{name: "bare handler", load: plain}
	sluice := &contender{name: "sluice", load: grouped}
	if err := b.race(ctx, bare, sluice); err != nil {
		return err
	}
	b.table.add("bare handler, 256 connections", bare.String())
	b.table.add("sluice, 256 connections", sluice.String())
	b.table.add("sluice to bare handler, 256 connections", span(ratios(sluice, bare)))
	return nil
}
