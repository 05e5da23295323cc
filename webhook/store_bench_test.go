package webhook

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
)

// BenchmarkWebhook is the look-up of each call: it must cost next to nothing.
func BenchmarkWebhook(b *testing.B) {
	e, err := jetstream.Open(b.Context(), jetstream.Options{
		Dir: b.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(e.Close)
	hooks := NewStore(e.Webhooks)
	var tokens []string
	for i := range 100 {
		key := fmt.Sprintf("webhook.bench.%d", i)
		hook, err := hooks.edit(b.Context(), putParams{Given: command.Given{"eventKey": key}})
		if err != nil {
			b.Fatal(err)
		}
		tokens = append(tokens, hook.UUID)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := hooks.Webhook(b.Context(), tokens[i%len(tokens)]); err != nil {
			b.Fatal(err)
		}
	}
}
