package main

import (
	"context"
	"fmt"
	"net/url"
)

// measureBodies compares the server with a bare handler that gets the same large bodies.
func measureBodies(ctx context.Context, b *bench) error {
	baseline, err := b.startBaseline(ctx)
	if err != nil {
		return err
	}
	s, err := b.startSluice(ctx, "sluice", groupCommit)
	if err != nil {
		return err
	}
	if err := s.awaitAdmin(ctx); err != nil {
		return s.failed(err)
	}
	for _, c := range []struct {
		payloadType       string
		size, connections int
		bar               bar
	}{
		{"base64", 100 << 10, 64, atLeast(0.60, "0.60")},
		{"raw", 100 << 10, 64, atLeast(0.50, "0.50")},
		{"base64", 1 << 20, 16, atLeast(0.50, "0.50")},
	} {
		name := fmt.Sprintf("%s bodies of %d KiB, %d connections", c.payloadType, c.size>>10, c.connections)
		key := fmt.Sprintf("webhook.bench.%s.%d", c.payloadType, c.size)
		token, err := s.createWebhookWith(ctx, url.Values{
			"eventKey": {key}, "payloadType": {c.payloadType}, "maxPayloadLength": {"4194304"},
		})
		if err != nil {
			return s.failed(err)
		}
		l, err := b.newLoad(s.client, key, []string{token})
		if err != nil {
			return err
		}
		l = l.over(c.connections)
		l.size = c.size
		bare := &contender{name: "bare handler, " + name, load: l.to(baseline.client)}
		sluice := &contender{name: "sluice, " + name, load: l}
		if err := b.compare(ctx, []*contender{bare, sluice}, ratio{
			"sluice to bare handler, " + name, sluice, bare, c.bar,
		}); err != nil {
			return err
		}
	}
	return nil
}
