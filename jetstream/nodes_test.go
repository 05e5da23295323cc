package jetstream

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// TestNodesOfTwoVersions are told apart, and one that stores in a newer format ends
// those that don't know it.
func TestNodesOfTwoVersions(t *testing.T) {
	t.Parallel()
	url := natstest.Start(natstest.Options()).ClientURL()
	open := func(version string) *Engine {
		return openEngine(t, Options{URL: url, Replicas: 1, Version: version, Log: slog.New(slog.DiscardHandler)})
	}
	first, same := open("1.0.0"), open("1.0.0")
	natstest.Eventually(t, "the first two know each other", func() bool {
		first.nodes.mu.Lock()
		defer first.nodes.mu.Unlock()
		return len(first.nodes.others) == 1
	})
	warned := func(e *Engine) bool {
		return strings.Contains(strings.Join(e.Warnings(), "\n"), "nodes of other versions share the engine: 1 of version 1.1.0; this one has 1.0.0")
	}
	if warned(first) {
		t.Error("warned of a node of the same version")
	}
	newer := open("1.1.0")
	for _, e := range []*Engine{first, same} {
		natstest.Eventually(t, "the other version is noticed", func() bool { return warned(e) })
	}
	newer.Close()
	natstest.Eventually(t, "it is noticed that it has gone", func() bool { return !warned(first) })
	next, err := json.Marshal(node{ID: "next", Version: "2.0.0", Format: durable.Format + 1})
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the newer one is heard of", func() bool {
		if err := first.host.Conn.Publish(stream.NodeSubject, next); err != nil { // which may get lost, as between nodes
			t.Fatal(err)
		}
		select {
		case <-first.Failed():
			return true
		default:
			return false
		}
	})
	if got := first.Failure().Error(); !strings.Contains(got, "Start version 2.0.0 here") {
		t.Errorf("it ends with %q", got)
	}
}

func TestAServerMayHaveItsShareOfNodes(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		others  []string // their servers
		servers int
		moves   bool
	}{
		"alone":                   {nil, 3, false},
		"one each":                {[]string{"two", "three"}, 3, false},
		"all on one":              {[]string{"one", "one"}, 3, true},
		"two on one of three":     {[]string{"one", "three"}, 3, true},
		"four nodes, three hosts": {[]string{"one", "two", "three"}, 3, false},
		"a server without peers":  {[]string{"one"}, 0, false},
		"a version without words": {[]string{"", ""}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := &nodes{others: map[string]seenNode{"gone": {node{Server: "one"}, now.Add(-time.Hour)}}}
			for i, server := range test.others {
				n.others[fmt.Sprint(i)] = seenNode{node{Server: server}, now}
			}
			if mine, most := share(n.present(now), "one", test.servers); (mine > most) != test.moves {
				t.Errorf("%d nodes are here, at most %d should be", mine, most)
			}
		})
	}
}

// TestANewerFormatIsRefused by an engine, embedded or external, and left as it is.
func TestANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]Options{
		"embedded": {Dir: t.TempDir()},
		"external": {URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1},
	} {
		t.Run(name, func(t *testing.T) {
			opts.Log, opts.Box = slog.New(slog.DiscardHandler), natstest.Box
			e := openEngine(t, opts)
			s, err := e.host.JS.Stream(t.Context(), stream.Sealed)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := s.GetLastMsgForSubject(t.Context(), "svc.sealed")
			if err != nil {
				t.Fatal(err)
			}
			var state map[string]any
			if err := json.Unmarshal(stored.Data, &state); err != nil {
				t.Fatal(err)
			}
			state["format"] = durable.Format + 1
			newer := nats.NewMsg("svc.sealed")
			if newer.Data, err = json.Marshal(state); err != nil {
				t.Fatal(err)
			}
			if _, err := e.host.JS.PublishMsg(t.Context(), newer); err != nil {
				t.Fatal(err)
			}
			e.Close()
			again, err := Open(t.Context(), opts)
			if err == nil { // an external engine fails later
				defer again.Close()
				<-again.Failed()
				err = again.Failure()
			}
			if sluice.AsError(err).Code != "engine-newer" {
				t.Errorf("opened: %v", err)
			}
		})
	}
}
