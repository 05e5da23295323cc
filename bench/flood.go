package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	floodConnections = 256             // more than get their password checked in time
	floodCalls       = 50_000          // enough, however fast they are refused
	floodTime        = 5 * time.Second // long enough for the throttle of an address to set in
)

// A flood is wrong passwords, each for another username: an account that is
// tried often would be throttled.
type flood struct {
	name    string
	address func(call int) string // of the client
	answers [600]atomic.Int64     // by status
}

// measureFloods adds what wrong passwords cost the server and its other callers:
// from ever new addresses, where each one has to be checked, and from a single
// one, which is throttled.
func (b *bench) measureFloods(ctx context.Context, s *server) error {
	token, err := s.createWebhook(ctx, benchKey(1))
	if err != nil {
		return err
	}
	calm, err := s.probe(ctx, token, time.After(time.Second))
	if err != nil {
		return err
	}
	b.table.add("calls without a flood", calm)
	for _, f := range []*flood{
		{name: "wrong passwords from many addresses", address: func(call int) string {
			return fmt.Sprintf("10.%d.%d.%d", call>>16, call>>8&255, call&255)
		}},
		{name: "wrong passwords from one address", address: func(int) string { return "192.0.2.1" }},
	} {
		if err := b.measureFlood(ctx, f, s, token); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// measureFlood adds the cores that the server takes during a flood, everything
// it does included, and the latency of calls by others meanwhile. There being no
// more cores than the bar allows, the latency is what tells.
func (b *bench) measureFlood(ctx context.Context, f *flood, s *server, token string) error {
	progressf("%s", f.name)
	began := time.Now()
	before, known := cpuSeconds(s.process)
	ended := make(chan time.Time)
	var failure error
	go func() {
		failure = f.run(ctx, s.base)
		close(ended)
	}()
	others, err := s.probe(ctx, token, ended)
	<-ended
	after, alsoKnown := cpuSeconds(s.process)
	if err == nil {
		err = failure
	}
	if err != nil {
		return err
	}
	if cores := (after - before) / time.Since(began).Seconds(); known && alsoKnown {
		most := runtime.NumCPU()
		b.table.hold(f.name+", cores of the server", fmt.Sprintf("%.2f; %s", cores, f), cores,
			atMost(float64(most), strconv.Itoa(most)))
	} else {
		b.table.add(f.name+", cores of the server", "n/a; "+f.String())
	}
	b.table.add(f.name+", other calls meanwhile", others)
	return nil
}

// run sends wrong passwords until the time or the calls are used up, and counts
// the answers.
func (f *flood) run(ctx context.Context, base string) error {
	c, err := newClient(base, floodConnections)
	if err != nil {
		return err
	}
	defer c.http.CloseIdleConnections()
	until := time.Now().Add(floodTime)
	return inParallel(ctx, floodConnections, floodCalls, func(ctx context.Context, i int) error {
		if time.Now().After(until) {
			return nil
		}
		in, err := c.send(ctx, httpRequest{
			path: commandPath + "webhook.get",
			header: map[string]string{
				"Authorization": basic(fmt.Sprint("user-", i), "wrong"), "X-Forwarded-For": f.address(i),
			},
			want: []int{http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		})
		f.answers[in.status].Add(1)
		return err
	})
}

// String says how the calls were answered.
func (f *flood) String() string {
	count := func(status int) string { return grouped(float64(f.answers[status].Load())) }
	return fmt.Sprintf("answered 401: %s, 429: %s, 503: %s", count(401), count(429), count(503))
}

// probe calls a command with a remembered password and a webhook in turn, until
// done, and returns the medians of their latencies. A call that isn't answered
// with 200 fails it.
func (c *client) probe(ctx context.Context, token string, done <-chan time.Time) (string, error) {
	const between = 10 * time.Millisecond
	var remembered, webhook []float64
	for {
		began := time.Now()
		if err := c.command(ctx, "webhook.get", url.Values{"uuid": {token}}, nil); err != nil {
			return "", err
		}
		remembered = append(remembered, milliseconds(began))
		began = time.Now()
		if err := c.command(ctx, "webhook.receive?token="+token, nil, nil); err != nil {
			return "", err
		}
		webhook = append(webhook, milliseconds(began))
		select {
		case <-done:
			return fmt.Sprintf("webhook p50 %.1f ms, webhook.get with remembered Basic p50 %.1f ms, %d of each, all "+
				"answered",
				median(webhook), median(remembered), len(webhook)), nil
		case <-time.After(between):
		}
	}
}
