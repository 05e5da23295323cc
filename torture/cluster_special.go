package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

func notCurrent(p *jetstream.PeerInfo) bool { return p.Offline || !p.Current }

// tryTrim fills the storage of events while a pipeline is behind, and kills the
// server that leads the pipeline's consumer: what it has not finished must stay.
func tryTrim(ctx context.Context, s settings) (clusterRow, error) {
	r, err := startRig(ctx, s.dir, rigOptions{servers: 3, bytes: "20MiB"})
	if err != nil {
		return clusterRow{}, err
	}
	defer r.stop()
	api := newClient(r.nodes[0].url, 4)
	defer api.close()
	unfinished, err := fillBehind(ctx, api)
	if err != nil {
		return clusterRow{}, err
	}
	consumer, err := r.consumerOf(ctx, "webhook.waiting")
	if err != nil {
		return clusterRow{}, err
	}
	leader, err := r.leader(ctx, consumer)
	if err != nil {
		return clusterRow{}, err
	}
	leader.process.kill()
	sleep(ctx, away)
	if err := r.startServer(ctx, leader); err != nil {
		return clusterRow{}, err
	}
	if err := r.caughtUp(ctx); err != nil {
		return clusterRow{}, err
	}
	stored, err := r.stored(ctx)
	if err != nil {
		return clusterRow{}, err
	}
	row := clusterRow{name: "trim", verdict: "ok", figures: clusterFigures{acked: len(unfinished)}}
	for id := range unfinished {
		if _, found := stored[id]; !found {
			row.figures.lost++
		}
	}
	if row.figures.lost > 0 {
		row.verdict = "BAD: events that a pipeline had not finished were removed"
		row.err = errors.New("trim: events that a pipeline had not finished were removed")
	}
	return row, nil
}

// fillBehind leaves a pipeline behind by some events, fills the storage of events
// with others, and returns the numbers of those that the pipeline has not finished.
func fillBehind(ctx context.Context, api *client) (unfinished map[uint64]bool, err error) {
	tokens := make(map[string]string)
	for _, key := range []string{"webhook.filler", "webhook.waiting"} {
		var hook sluice.Webhook
		if err := api.command(ctx, "webhook.put", map[string]any{"eventKey": key}, &hook); err != nil {
			return nil, err
		}
		tokens[key] = hook.UUID
	}
	const source = "concurrency: 1\npipeline:\n  - event.listen: {eventKey: webhook.waiting}\n  - wait: {duration: " +
		"10m}\n"
	if err := api.store(ctx, "waiting", source); err != nil {
		return nil, err
	}
	const waiting = 300
	unfinished = make(map[uint64]bool)
	id := uint64(0)
	for range waiting {
		id++
		if _, err := api.receive(ctx, tokens["webhook.waiting"], id, appendBody(nil, id)); err != nil {
			return nil, err
		}
		unfinished[id] = true
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until) && ctx.Err() == nil; {
		id++
		if _, err := api.receive(ctx, tokens["webhook.filler"], id, appendBody(nil, id)); err != nil {
			return unfinished, nil //nolint:nilerr // the storage is full
		}
	}
	return nil, errors.New("the storage of events does not fill up")
}

// tryLoss is the negative control: an engine of one server loses its data, and the
// check has to notice.
func tryLoss(ctx context.Context, s settings) (clusterRow, error) {
	r, err := startRig(ctx, s.dir, rigOptions{servers: 1, bytes: "1GiB"})
	if err != nil {
		return clusterRow{}, err
	}
	defer r.stop()
	load, stop, err := r.load(ctx, false)
	if err != nil {
		return clusterRow{}, err
	}
	defer stop()
	sleep(ctx, 2*time.Second)
	for _, n := range r.nodes {
		n.process.kill()
	}
	r.servers[0].process.kill()
	stop()
	if err := os.RemoveAll(r.servers[0].data); err != nil {
		return clusterRow{}, err
	}
	if err := r.startServer(ctx, r.servers[0]); err != nil {
		return clusterRow{}, err
	}
	for _, n := range r.nodes {
		if err := r.startNode(ctx, n); err != nil {
			return clusterRow{}, err
		}
	}
	figures, err := load.figures(ctx)
	if err != nil {
		return clusterRow{}, err
	}
	row := clusterRow{name: "negative control", verdict: "ok: loss is noticed", figures: figures}
	if figures.lost == 0 {
		row.verdict = "BLIND"
		row.err = errors.New("negative control: nothing was lost: the test can't detect loss")
	}
	return row, nil
}
