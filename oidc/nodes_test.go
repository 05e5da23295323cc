package oidc

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sluice/jetstream"
)

// newNodes returns issuers on different nodes that share an external engine.
func newNodes(t *testing.T) (a, b *fixture) {
	t.Helper()
	nats, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(),
		MaxPayload: 8 << 20, NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	nats.Start()
	t.Cleanup(func() {
		nats.Shutdown()
		nats.WaitForShutdown()
	})
	if !nats.ReadyForConnections(time.Minute) {
		t.Fatal("the engine did not start")
	}
	o := jetstream.Options{URL: nats.ClientURL(), Replicas: 1}
	a, b = newFixtureOn(t, o), newFixtureOn(t, o)
	b.url = a.url // the public one; requests go to each node by its own
	return a, b
}

func TestNodesShareTokensAtOnce(t *testing.T) {
	a, b := newNodes(t)
	for range 20 {
		r := a.login("")
		if !b.accepts(r.str("access_token")) || !b.acceptsRefresh(r.str("refresh_token")) {
			t.Fatal("the other node refuses a token that was just made")
		}
		renewed := a.renew(r.str("refresh_token"))
		if !b.acceptsRefresh(renewed.str("refresh_token")) {
			t.Fatal("the other node refuses a refresh token that was just made")
		}
	}
	if n := len(a.Keys.All()); n != 1 {
		t.Errorf("%d signing keys were made", n)
	}
}

func TestOfParallelUsesOnManyNodesOneWins(t *testing.T) {
	a, b := newNodes(t)
	token := a.login("").str("refresh_token")
	const parallel = 30
	answers := make(chan reply, parallel)
	var wg sync.WaitGroup
	for n := range parallel {
		wg.Go(func() {
			if n%2 == 0 {
				answers <- a.renew(token)
			} else {
				answers <- b.renew(token)
			}
		})
	}
	wg.Wait()
	close(answers)
	won := 0
	for r := range answers {
		switch {
		case r.status == http.StatusOK:
			won++
		case r.status != 400 || r.str("error") != "invalid_grant":
			t.Errorf("%d %s", r.status, r.text)
		}
	}
	if won != 1 {
		t.Errorf("%d uses won", won)
	}
}
