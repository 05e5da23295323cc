package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
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

// A listener is a server with a pipeline of three steps behind one of its
// webhooks, and perhaps many that listen to other keys.
type listener struct {
	*server

	admin   *admin
	heard   string // token of the webhook that the pipeline listens to
	unheard string // of one that none listens to
}

// measurePipelines measures the way of a call through a pipeline, on two
// servers: one where that is the only pipeline, and one with many others.
func measurePipelines(ctx context.Context, b *bench) error {
	bare, err := b.startBare(ctx)
	if err != nil {
		return err
	}
	alone, err := b.startListener(ctx, "alone", 0)
	if err != nil {
		return err
	}
	crowded, err := b.startListener(ctx, "crowded", manyPipelines)
	if err != nil {
		return err
	}
	both := []*listener{alone, crowded}
	for _, measure := range []func() error{
		func() error { return b.showIdle(ctx, crowded) },
		func() error { return b.compareHeard(ctx, bare, both, 64) },
		func() error { return b.compareHeard(ctx, bare, both, 256) },
		func() error { return b.compareBacklogs(ctx, both) },
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

// steps gives a pipeline of three steps: it listens to a key, decodes the
// payload, and gives a value of it.
func steps(eventKey string) string {
	return fmt.Sprintf(`pipeline:
  - event.listen: {eventKey: %s}
  - convert.fromBase64: {input: "#{body.payload.origin}"}
  - set: {value: {length: "#{len(body)}"}}
`, eventKey)
}

// startListener starts a server with a pipeline, and others beside it.
func (b *bench) startListener(ctx context.Context, name string, others int) (*listener, error) {
	// The gate of a backlog is on this machine.
	s, err := b.startSluice(ctx, name, groupCommit, "result-wait="+resultWait.String(), "http-allow=127.0.0.0/8")
	if err != nil {
		return nil, err
	}
	l := &listener{server: s}
	if l.admin, err = newAdmin(ctx, s); err != nil {
		return nil, err
	}
	if l.heard, err = l.admin.put(ctx, 0); err != nil {
		return nil, err
	}
	if l.unheard, err = l.admin.put(ctx, 1); err != nil {
		return nil, err
	}
	if err := l.admin.store(ctx, "heard", steps("webhook.bench.0")); err != nil {
		return nil, err
	}
	began := time.Now()
	err = inParallel(ctx, others, func(ctx context.Context, i int) error {
		return l.admin.store(ctx, fmt.Sprintf("other-%d", i), steps(fmt.Sprintf("webhook.other.%d", i)))
	})
	progressf("server %s: %d further pipelines stored in %s", name, others, time.Since(began).Round(time.Millisecond))
	return l, err
}

// showIdle adds what many pipelines cost a server that nobody calls.
func (b *bench) showIdle(ctx context.Context, crowded *listener) error {
	const watched = 5 * time.Second
	before, known := cpuSeconds(crowded.process)
	pause(ctx, watched)
	after, alsoKnown := cpuSeconds(crowded.process)
	memory, memoryKnown := resident(crowded.process)
	if known && alsoKnown && memoryKnown {
		b.table.add("server with 1,000 pipelines that nobody calls", fmt.Sprintf("%.2f cores, %.0f MB resident", (after-before)/watched.Seconds(), memory/1e6))
	}
	return nil
}

// compareHeard adds the rates of calls that a pipeline listens to, each answered
// with the pipeline's value.
func (b *bench) compareHeard(ctx context.Context, bare *server, both []*listener, connections int) error {
	contenders := []*contender{{name: "bare handler"}, {name: "sluice with a pipeline"}, {name: "sluice with a pipeline and 1,000 others"}}
	for i, l := range both {
		file, err := b.tokenFile(fmt.Sprint("heard-", i), []string{l.heard})
		if err != nil {
			return err
		}
		contenders[i+1].load = load{address: l.address, tokens: file, connections: connections, size: bodySize}
	}
	contenders[0].load = contenders[1].load
	contenders[0].load.address = bare.address
	if err := b.race(ctx, contenders...); err != nil {
		return err
	}
	at := fmt.Sprintf(", %d connections", connections)
	for _, c := range contenders {
		b.table.add(c.name+at, c.String())
	}
	for _, c := range contenders[1:] {
		for _, o := range c.rounds {
			if o.Max >= resultWait.Seconds()*1e3 {
				return fmt.Errorf("%s: a call took %.0f ms: its answer may have been processing", c.name, o.Max)
			}
		}
	}
	middle, least, most := ratios(contenders[1], contenders[0])
	figure := contenders[1].name + " to bare handler" + at
	if connections == 64 {
		b.table.hold(figure, span(middle, least, most), "at least 0.20", middle >= 0.20)
	} else {
		b.table.add(figure, span(middle, least, most))
	}
	b.holdCrowd("calls with a pipeline"+at, contenders[2], contenders[1])
	return nil
}

// holdCrowd adds how a rate with many pipelines compares to that without.
func (b *bench) holdCrowd(what string, crowded, alone *contender) {
	middle, least, most := ratios(crowded, alone)
	b.table.hold(what+": with 1,000 other pipelines to without", span(middle, least, most), "at least 0.90", middle >= 0.90)
}

// comparePolls adds the rate of polls for results that are ready.
func (b *bench) comparePolls(ctx context.Context, both []*listener) error {
	const results = 1000
	contenders := []*contender{{name: "polls for results of a pipeline"}, {name: "polls for results of a pipeline with 1,000 others"}}
	for i, l := range both {
		ids := make([]string, results)
		err := inParallel(ctx, results, func(ctx context.Context, i int) (err error) {
			ids[i], err = l.call(ctx, l.heard, true)
			return err
		})
		if err != nil {
			return err
		}
		file, err := b.tokenFile(fmt.Sprint("results-", i), ids)
		if err != nil {
			return err
		}
		contenders[i].load = load{address: l.address, path: "/api/v3/result?svc-result-correlationid=", tokens: file, connections: 64}
	}
	if err := b.race(ctx, contenders...); err != nil {
		return err
	}
	for _, c := range contenders {
		b.table.add(c.name+", 64 connections", c.String())
	}
	b.holdCrowd("polls", contenders[1], contenders[0])
	return nil
}

// noneFailed checks that no run of a pipeline has: a failure is answered, too.
func (l *listener) noneFailed(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.address+"/metrics", nil)
	if err != nil {
		return err
	}
	response, err := l.admin.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	counted := false
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "sluice_runs_total{") {
			counted = true
			if strings.Contains(lines.Text(), `outcome="error"`) {
				return fmt.Errorf("runs of a pipeline failed: %s", lines.Text())
			}
		}
	}
	if !counted && lines.Err() == nil {
		return errors.New("the metrics don't tell of any runs")
	}
	return lines.Err()
}
