package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"sluice"
)

const (
	backlogEvents = 50_000
	backlogKey    = "webhook.bench.2"
	backlogRounds = 3
)

// compareBacklogs adds how fast a pipeline works off events that wait for it.
func (b *bench) compareBacklogs(ctx context.Context, both []*listener) error {
	contenders := []*contender{{name: "runs of a backlog of 50,000 events"}, {name: "runs of a backlog of 50,000 events with 1,000 other pipelines"}}
	tokens := make([]string, len(both))
	for i, l := range both {
		var err error
		if tokens[i], err = l.admin.put(ctx, 2); err != nil {
			return err
		}
	}
	for round := range min(backlogRounds, b.rounds) {
		for i := range both {
			at := (i + round) % len(both)
			took, err := both[at].drain(ctx, tokens[at])
			if err != nil {
				return fmt.Errorf("backlog: %w", err)
			}
			o := outcome{Requests: backlogEvents, Seconds: took.Seconds()}
			contenders[at].rounds = append(contenders[at].rounds, o)
			progressf("round %d: %s runs/s, %s", round+1, grouped(o.rate()), contenders[at].name)
		}
	}
	for _, c := range contenders {
		b.table.add(c.name, grouped(c.median(outcome.rate))+" runs/s")
	}
	b.holdCrowd("runs of a backlog", contenders[1], contenders[0])
	return nil
}

// A gate holds up whoever calls it, until it is opened.
type gate struct {
	*httptest.Server

	opened chan struct{}
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the request is not noticed
		select {
		case <-g.opened:
		case <-r.Context().Done():
		}
	}))
	return g
}

// source gives a pipeline whose runs wait at the gate.
func (g *gate) source() string {
	return fmt.Sprintf(`pipeline:
  - event.listen: {eventKey: %s}
  - iam.run.as: {username: admin}
  - http.request: {url: %q, timeout: 5m}
`, backlogKey, g.URL)
}

// drain lets events pile up and gives how long the pipeline takes for them. The
// first runs stand before a gate, and take all places there are: so the events
// behind them wait as they would for a slow pipeline, with everything else in
// operation. Then the pipeline is stored anew, as that of three steps, and the
// gate opens. The last event is done when at most those that run beside it are
// not.
func (l *listener) drain(ctx context.Context, token string) (time.Duration, error) {
	g := newGate()
	defer g.Close()
	if err := l.admin.store(ctx, "backlog", g.source()); err != nil {
		return 0, err
	}
	progressf("%s events pile up", grouped(backlogEvents))
	ids := make([]string, backlogEvents)
	if err := inParallel(ctx, backlogEvents, func(ctx context.Context, i int) (err error) {
		ids[i], err = l.post(ctx, token)
		return err
	}); err != nil {
		return 0, err
	}
	last, err := l.post(ctx, token)
	if err != nil {
		return 0, err
	}
	if err := l.admin.store(ctx, "backlog", steps(backlogKey)); err != nil {
		return 0, err
	}
	began := time.Now()
	close(g.opened)
	result, err := l.await(ctx, last)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	if err := check(result, true); err != nil {
		return 0, err
	}
	return took, l.allReady(ctx, ids)
}

// post calls a webhook without waiting for its result, and gives the id that
// the result is found by.
func (l *listener) post(ctx context.Context, token string) (correlationID string, err error) {
	request, err := l.newCall(ctx, receivePath+token+"&pollingRedirectEnabled=true")
	if err != nil {
		return "", err
	}
	response, err := l.admin.client.Transport.RoundTrip(request) // which doesn't follow redirects
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusFound {
		return "", fmt.Errorf("a call was answered with %s", response.Status)
	}
	return response.Header.Get("svc-result-correlationid"), nil
}

// await gives a result as soon as it is ready.
func (l *listener) await(ctx context.Context, correlationID string) (result sluice.Result, err error) {
	const hops = 100 // of 5 seconds each
	client := http.Client{
		Transport: l.admin.client.Transport,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > hops {
				return errors.New("the result is not ready after many polls")
			}
			return nil
		},
	}
	target := "http://" + l.address + "/api/v3/result?pollingRedirectEnabled=true&svc-result-correlationid=" + correlationID
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return result, err
	}
	return result, exchange(&client, request, &result)
}

// allReady checks that the results of some of the calls are there.
func (l *listener) allReady(ctx context.Context, ids []string) error {
	const every = 100
	for chunk := range slices.Chunk(ids, every) {
		result, err := l.await(ctx, chunk[0])
		if err == nil && result.Status != sluice.StatusOK {
			err = fmt.Errorf("a call of the backlog came to %s", result.Status)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
