package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A world is the servers of a walk, what they have in common, and the recipients that their
// pipelines send to.
type world struct {
	settings

	dir      string
	engine   *rig // nil: the one server has its own
	nodes    []*walkNode
	asked    atomic.Uint32
	a, b     *recipient
	targets  *targets // nil: there are none
	reviving sync.Mutex
	starts   int
	kills    []time.Time
	faults   []time.Time // when they were over
	away     []period    // of servers of the engine
	stuck    []period    // in which a server could write nothing
}

func newWorld(ctx context.Context, s settings) (_ *world, err error) {
	w := &world{settings: s, a: newRecipient(), b: newRecipient()}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.remove(false))
		}
	}()
	if w.dir, err = os.MkdirTemp(s.dir, "torture-walk-"); err != nil {
		return nil, err
	}
	if w.targets, err = startTargets(ctx); err != nil {
		return nil, err
	}
	if s.nodes == 1 {
		return w, w.startNode(ctx, "node", nil)
	}
	if w.engine, err = startRig(ctx, w.dir, rigOptions{servers: 3, bytes: "1GiB", nodeless: true}); err != nil {
		return nil, err
	}
	options := []string{"nats=" + w.engine.urls(), "nats-replicas=3", "secret-key=" + secret, "event-max-bytes=1GiB"}
	for i := range s.nodes {
		if err = w.startNode(ctx, fmt.Sprint("node", i), options); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// client returns the client of one node after the other.
func (w *world) client() *client {
	return w.nodes[int(w.asked.Add(1))%len(w.nodes)].client
}

// folders are those that have what is stored. The servers of an external engine also write down in
// which order they do what, and remove that by themselves.
func (w *world) folders() (all []string) {
	for _, n := range w.nodes {
		all = append(all, n.data)
	}
	if w.engine != nil {
		for _, s := range w.engine.servers {
			all = append(all, filepath.Join(s.data, "jetstream", engineAccount))
		}
	}
	return all
}

// engineAccount is the folder of a server of the engine that has its streams.
const engineAccount = "$G"

// A period is a time in which something was wrong.
type period struct{ from, to time.Time }

// wasAway reports whether a server of the engine was away during a call: nodes may then keep calls
// themselves, and others overtake them.
func (w *world) wasAway(c *walkCall) bool { return w.wasAwayIn(period{c.at, c.answered}) }

func (w *world) wasAwayIn(in period) bool {
	return slices.ContainsFunc(w.away, func(p period) bool { return in.from.Before(p.to) && in.to.After(p.from) })
}

// remove ends everything, and removes it unless it is to be looked at.
func (w *world) remove(keep bool) (err error) {
	keep = keep && os.Getenv("TORTURE_KEEP") != ""
	for _, n := range w.nodes {
		err = errors.Join(err, n.remove(keep))
	}
	if w.engine != nil {
		w.engine.stop()
	}
	for _, r := range []*recipient{w.a, w.b} {
		r.CloseClientConnections()
		r.Close()
	}
	w.targets.stop()
	if keep {
		fmt.Println("kept:", w.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// setClocks sets the clocks of all servers right.
func (w *world) setClocks() (err error) {
	for _, n := range w.nodes {
		err = errors.Join(err, n.setClock(0))
	}
	return err
}
