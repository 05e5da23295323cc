package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// handOverWithin is how long a node may refuse calls that is taken down while
// it hands over.
const handOverWithin = election

// loseQuorum kills two servers for a while.
func loseQuorum(lost time.Duration) func(context.Context, *rig) error {
	return func(ctx context.Context, r *rig) error {
		for _, s := range r.servers[:2] {
			s.process.kill()
		}
		sleep(ctx, lost)
		return errors.Join(r.startServer(ctx, r.servers[0]), r.startServer(ctx, r.servers[1]))
	}
}

// interruptHandOver loses the quorum again and again, and takes the first node down
// while it hands over what has come meanwhile.
func interruptHandOver(takeDown func(*rig, *rigNode) error) func(context.Context, *rig) error {
	return func(ctx context.Context, r *rig) error {
		const rounds = 4
		n := r.nodes[0]
		for range rounds {
			begun, err := r.nc.SubscribeSync("svc.spooled.>")
			if err != nil {
				return err
			}
			if err := loseQuorum(5*time.Second)(ctx, r); err != nil {
				return err
			}
			if _, err = begun.NextMsg(settleWithin); err != nil {
				return fmt.Errorf("nodes hand nothing over: %w", err)
			}
			_ = begun.Unsubscribe() // fails if the connection has gone, which ends it too
			sleep(ctx, rand.N(40*time.Millisecond))
			if err := errors.Join(takeDown(r, n), r.startNode(ctx, n), r.settle(ctx)); err != nil {
				return err
			}
		}
		return nil
	}
}

// loseSpool is what a negative control does: the first node loses its disk while
// calls wait there.
func loseSpool(ctx context.Context, r *rig) error {
	n := r.nodes[0]
	for _, s := range r.servers[:2] {
		s.process.kill()
	}
	sleep(ctx, 5*time.Second)
	n.process.kill()
	return errors.Join(os.RemoveAll(filepath.Join(n.data, "spool")),
		r.startServer(ctx, r.servers[0]), r.startServer(ctx, r.servers[1]), r.startNode(ctx, n))
}
