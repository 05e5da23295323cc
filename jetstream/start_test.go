package jetstream

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/natstest"
)

// TestNodesStartTogether: nodes that make the same streams at the same moment are
// all ready soon, on an empty cluster and on a full one.
func TestNodesStartTogether(t *testing.T) {
	t.Parallel()
	url := natstest.StartCluster()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the cluster has a leader", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := js.AccountInfo(ctx)
		return err == nil
	})
	for _, state := range []string{"empty", "full"} {
		began := time.Now()
		engines := make([]*Engine, 3)
		for i := range engines {
			engines[i] = openUnready(t, Options{URL: url, Replicas: 3})
		}
		for _, e := range engines {
			natstest.Eventually(t, "a node is ready", func() bool { return e.Ready() == nil })
		}
		took := time.Since(began)
		t.Logf("three nodes are ready after %v on the %s cluster", took, state)
		// Nodes that stand in each other's way wait for their timeouts in turn.
		if took > 2*time.Minute {
			t.Errorf("three nodes take %v to be ready on the %s cluster", took, state)
		}
		for _, e := range engines {
			e.Close()
		}
	}
}
