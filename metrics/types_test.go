package metrics_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/metrics"
)

// TestManyTypes: the busiest kinds of a webhook's events have figures of their own, however many others
// there are, and all are counted.
func TestManyTypes(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	m := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	count := func(key, kind string, calls int) {
		for range calls {
			m.Call(sluice.Call{EventKey: key, Type: kind, CorrelationID: "x", Time: time.Now()})
		}
	}
	count("webhook.many", "busy", 3)
	for i := range 130 {
		count("webhook.many", fmt.Sprint("kind", i), 1)
	}
	m.Call(sluice.Call{EventKey: "webhook.many", Type: "rejected", Time: time.Now()})
	count("webhook.many", "", 1)
	of := m.Webhooks(t.Context(), 1, "webhook.many")[0]
	sum := 0
	for _, kind := range of.Types {
		sum += kind.Calls
	}
	if len(of.Types) != 51 || of.Types[0].Type != "busy" || of.Types[0].Calls != 3 || of.Types[50].Type != "other" || of.Types[50].Calls != 81 || sum != 133 {
		t.Errorf("%d kinds of %d events: %+v", len(of.Types), sum, of.Types)
	}
	for i := range 2100 {
		count(fmt.Sprint("webhook.one", i), "kind", 1)
	}
	kinds := 0
	for _, of := range m.Webhooks(t.Context(), 1, "") {
		kinds += len(of.Types)
	}
	if kinds > 2000 {
		t.Errorf("%d kinds are kept", kinds)
	}
}
