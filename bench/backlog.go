package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"sluice"
)

const (
	backlogEvents = 50_000
	backlogKey    = "webhook.bench.2"
	backlogRounds = 3
)

// compareBacklogs adds how fast a pipeline works off events that wait for it.
func (b *bench) compareBacklogs(ctx context.Context, both []*pipelineServer) error {
	contenders := []*contender{
		{name: "runs of a backlog of 50,000 events"},
		{name: "runs of a backlog of 50,000 events with 1,000 other pipelines"},
	}
	tokens := make([]string, len(both))
	for i, p := range both {
		var err error
		if tokens[i], err = p.createWebhook(ctx, backlogKey); err != nil {
			return err
		}
	}
	for round := range min(backlogRounds, b.rounds) {
		for i := range both {
			at := (i + round) % len(both)
			took, err := both[at].drain(ctx, tokens[at], backlogKey, threeSteps(backlogKey))
			if err != nil {
				return fmt.Errorf("backlog: %w", err)
			}
			o := measurement{Requests: backlogEvents, Seconds: took.Seconds()}
			contenders[at].rounds = append(contenders[at].rounds, o)
			progressf("round %d: %s runs/s, %s", round+1, grouped(o.rate()), contenders[at].name)
		}
	}
	for _, c := range contenders {
		b.table.add(c.name, grouped(c.median(measurement.rate))+" runs/s")
	}
	b.holdRatio(crowding("runs of a backlog", contenders[1], contenders[0]))
	return nil
}

// A gate holds up its callers until it is opened.
type gate struct {
	*httptest.Server

	opened chan struct{}
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the request is not noticed
		select {
		case <-g.opened:
		case <-r.Context().Done():
		}
	}))
	return g
}

// source returns a pipeline with some sections whose runs wait at the gate.
func (g *gate) source(sections, eventKey string) string {
	return sections + fmt.Sprintf(`pipeline:
  - event.listen: {eventKey: %s}
  - iam.run.as: {username: admin}
  - http.request: {url: %q, timeout: 5m}
`, eventKey, g.URL)
}

// drain lets events pile up and returns how long the pipeline takes for them.
// The first runs wait at a gate, and take all slots: so the events behind them
// wait as they would for a slow pipeline, with everything else in operation.
// Then the steps of the pipeline are replaced by those of the source, and the gate opens. The
// last event is done when at most those that run beside it are not, and those
// that wait for another attempt: every hundredth is waited for, too.
func (p *pipelineServer) drain(ctx context.Context, token, eventKey, source string) (time.Duration, error) {
	g := newGate()
	defer g.Close()
	sections, _, _ := strings.Cut(source, "pipeline:")
	if err := p.storePipeline(ctx, "backlog", g.source(sections, eventKey)); err != nil {
		return 0, err
	}
	progressf("%s events pile up", grouped(backlogEvents))
	ids := make([]string, backlogEvents)
	if err := inParallel(ctx, writers, backlogEvents, func(ctx context.Context, i int) (err error) {
		ids[i], err = p.enqueue(ctx, fmt.Sprintf("%s&n=%d", token, i))
		return err
	}); err != nil {
		return 0, err
	}
	last, err := p.enqueue(ctx, token+"&n=last")
	if err != nil {
		return 0, err
	}
	if err := p.storePipeline(ctx, "backlog", source); err != nil {
		return 0, err
	}
	began := time.Now()
	close(g.opened)
	result, err := p.await(ctx, last)
	if err == nil {
		err = checkResult(result, true)
	}
	if err == nil {
		err = p.allReady(ctx, ids)
	}
	return time.Since(began), err
}

// enqueue calls a webhook without waiting for its result, and returns the id
// that the result is found by.
func (p *pipelineServer) enqueue(ctx context.Context, token string) (correlationID string, err error) {
	out := newReceive(token + "&pollingRedirectEnabled=true")
	out.want = []int{http.StatusFound}
	in, err := p.send(ctx, out)
	return in.header.Get("svc-result-correlationid"), err
}

// await returns a result as soon as it is ready.
func (p *pipelineServer) await(ctx context.Context, correlationID string) (result sluice.Result, err error) {
	in, err := p.send(ctx, httpRequest{path: resultPath + correlationID + "&pollingRedirectEnabled=true"})
	if err != nil {
		return result, err
	}
	return result, json.Unmarshal(in.content, &result)
}

// allReady checks that the results of some of the calls are there.
func (p *pipelineServer) allReady(ctx context.Context, ids []string) error {
	const every = 100
	for chunk := range slices.Chunk(ids, every) {
		result, err := p.await(ctx, chunk[0])
		if err == nil && result.Status != sluice.StatusOK {
			err = fmt.Errorf("a call of the backlog came to %s", result.Status)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
