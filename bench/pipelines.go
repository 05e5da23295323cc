package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// manyPipelines is how many pipelines listen to keys that nobody calls.
	manyPipelines = 1000

	// resultWait is how long calls wait for their pipeline here: an answer
	// that came sooner has the pipeline's value, and none comes later.
	resultWait = 5 * time.Second
)

// A pipelineServer is a server with a pipeline of three steps behind one of its
// webhooks, and perhaps many that listen to other keys.
type pipelineServer struct {
	*server

	listened   string // token of the webhook that the pipeline listens to
	unlistened string // of one that none listens to
}

// measurePipelines measures the way of a call through a pipeline, on two
// servers: one where that is the only pipeline, and one with many others.
func measurePipelines(ctx context.Context, b *bench) error {
	baseline, err := b.startBaseline(ctx)
	if err != nil {
		return err
	}
	alone, err := b.startPipelines(ctx, "alone", 0)
	if err != nil {
		return err
	}
	crowded, err := b.startPipelines(ctx, "crowded", manyPipelines)
	if err != nil {
		return err
	}
	both := []*pipelineServer{alone, crowded}
	for _, measure := range []func() error{
		func() error { b.showIdle(ctx, crowded); return nil },
		func() error { return b.comparePipelines(ctx, baseline, both, 64, atLeast(0.20, "0.20")) },
		func() error { return b.comparePipelines(ctx, baseline, both, 256, bar{}) },
		func() error { return b.compareBacklogs(ctx, both) },
		func() error { return b.compareFilters(ctx, both[0]) },
		func() error { return b.compareLatency(ctx, both) },
		func() error { return b.comparePolls(ctx, both) },
		func() error { return errors.Join(alone.noneFailed(ctx), crowded.noneFailed(ctx)) },
	} {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

// threeSteps returns a pipeline: it listens to a key, decodes the payload, and
// returns a value of it.
func threeSteps(eventKey string) string {
	return fmt.Sprintf(`pipeline:
  - event.listen: {eventKey: %s}
  - convert.fromBase64: {input: "#{body.payload.origin}"}
  - set: {value: {length: "#{len(body)}"}}
`, eventKey)
}

// startPipelines starts a server with a pipeline, and others beside it.
func (b *bench) startPipelines(ctx context.Context, name string, others int) (*pipelineServer, error) {
	// The gate of a backlog is on this machine.
	s, tokens, err := b.startWithWebhooks(ctx, name, 2, groupCommit, "result-wait="+resultWait.String(),
		"http-allow=127.0.0.0/8")
	if err != nil {
		return nil, err
	}
	if err := s.storePipeline(ctx, "listening", threeSteps(benchKey(0))); err != nil {
		return nil, err
	}
	began := time.Now()
	err = inParallel(ctx, writers, others, func(ctx context.Context, i int) error {
		return s.storePipeline(ctx, fmt.Sprintf("other-%d", i), threeSteps(fmt.Sprintf("webhook.other.%d", i)))
	})
	progressf("server %s: %d further pipelines stored in %s", name, others, time.Since(began).Round(time.Millisecond))
	return &pipelineServer{server: s, listened: tokens[0], unlistened: tokens[1]}, err
}

// showIdle adds what many pipelines cost a server that nobody calls.
func (b *bench) showIdle(ctx context.Context, crowded *pipelineServer) {
	const watched = 5 * time.Second
	before, known := cpuSeconds(crowded.process)
	pause(ctx, watched)
	after, alsoKnown := cpuSeconds(crowded.process)
	memory, memoryKnown := resident(crowded.process)
	if known && alsoKnown && memoryKnown {
		b.table.add("server with 1,000 pipelines that nobody calls",
			fmt.Sprintf("%.2f cores, %.0f MB resident", (after-before)/watched.Seconds(), memory/1e6))
	}
}

// comparePipelines adds the rates of calls that a pipeline listens to, each
// answered with the pipeline's value.
func (b *bench) comparePipelines(
	ctx context.Context, baseline *server, both []*pipelineServer, connections int, toBare bar,
) error {
	at := fmt.Sprintf(", %d connections", connections)
	bare := &contender{name: "bare handler" + at}
	alone := &contender{name: "sluice with a pipeline" + at}
	crowded := &contender{name: "sluice with a pipeline and 1,000 others" + at}
	for i, c := range []*contender{alone, crowded} {
		calls, err := b.newLoad(both[i].client, fmt.Sprint("listened-", i), []string{both[i].listened})
		if err != nil {
			return err
		}
		c.load = calls.over(connections)
	}
	bare.load = alone.load.to(baseline.client)
	if err := b.compare(ctx, []*contender{bare, alone, crowded},
		ratio{"sluice with a pipeline to bare handler" + at, alone, bare, toBare},
		crowding("calls with a pipeline"+at, crowded, alone),
	); err != nil {
		return err
	}
	for _, c := range []*contender{alone, crowded} {
		if slowest := c.slowest(); slowest >= resultWait.Seconds()*1e3 {
			return fmt.Errorf("%s: a call took %.0f ms: its answer may have been processing", c.name, slowest)
		}
	}
	return nil
}

// crowding returns the ratio of a rate with many pipelines to that without.
func crowding(what string, crowded, alone *contender) ratio {
	return ratio{what + ": with 1,000 other pipelines to without", crowded, alone, atLeast(0.90, "0.90")}
}

// comparePolls adds the rate of polls for results that are ready.
func (b *bench) comparePolls(ctx context.Context, both []*pipelineServer) error {
	const results = 1000
	alone := &contender{name: "polls for results of a pipeline, 64 connections"}
	crowded := &contender{name: "polls for results of a pipeline with 1,000 others, 64 connections"}
	for i, c := range []*contender{alone, crowded} {
		ids := make([]string, results)
		err := inParallel(ctx, writers, results, func(ctx context.Context, j int) (err error) {
			ids[j], err = both[i].receive(ctx, both[i].listened, true)
			return err
		})
		if err != nil {
			return err
		}
		polls, err := b.newLoad(both[i].client, fmt.Sprint("results-", i), ids)
		if err != nil {
			return err
		}
		c.load = polls.reading(resultPath, "")
	}
	return b.compare(ctx, []*contender{alone, crowded}, crowding("polls", crowded, alone))
}

// noneFailed checks that no run of a pipeline has failed: a failure is
// answered, too.
func (p *pipelineServer) noneFailed(ctx context.Context) error {
	in, err := p.send(ctx, httpRequest{path: "/metrics", header: map[string]string{"Authorization": asAdmin}})
	if err != nil {
		return err
	}
	counted := false
	for line := range strings.Lines(string(in.content)) {
		if !strings.HasPrefix(line, "sluice_runs_total{") {
			continue
		}
		counted = true
		if strings.Contains(line, `outcome="error"`) {
			return fmt.Errorf("runs of a pipeline failed: %s", line)
		}
	}
	if !counted {
		return errors.New("the metrics don't tell of any runs")
	}
	return nil
}
