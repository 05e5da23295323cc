package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A flood is wrong passwords, each for another username: an account that is
// tried often would be throttled.
type flood struct {
	name string
	from func(call int64) netip.Addr // client address of a call

	server  *server
	client  http.Client
	calls   atomic.Int64
	answers [600]atomic.Int64 // by status
}

const (
	floodConnections = 256             // more than get their password checked in time
	floodCalls       = 50_000          // enough, however fast they are refused
	floodTime        = 5 * time.Second // long enough for the throttle of an address to set in
)

// measureFloods adds what wrong passwords cost the server and its other callers:
// from ever new addresses, where each one has to be checked, and from a single
// one, which is throttled.
func (b *bench) measureFloods(ctx context.Context, s *server) error {
	a, err := newAdmin(ctx, s)
	if err != nil {
		return err
	}
	defer a.client.CloseIdleConnections()
	token, err := a.put(ctx, 1)
	if err != nil {
		return err
	}
	calm, err := a.probe(ctx, token, time.After(time.Second))
	if err != nil {
		return err
	}
	b.table.add("calls without a flood", calm.String())
	for _, f := range []*flood{
		{name: "many addresses", from: func(call int64) netip.Addr {
			return netip.AddrFrom4([4]byte{10, byte(call >> 16), byte(call >> 8), byte(call)})
		}},
		{name: "one address", from: func(int64) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, 1}) }},
	} {
		f.server = s
		f.client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floodConnections}, Timeout: 30 * time.Second}
		if err := b.measureFlood(ctx, f, a, token); err != nil {
			return err
		}
	}
	return nil
}

// measureFlood adds the cores that the server takes during a flood, everything
// it does included, and the latency of calls by others meanwhile. There being no
// more cores than the bar allows, the latency is what tells.
func (b *bench) measureFlood(ctx context.Context, f *flood, a *admin, token string) error {
	progressf("a flood of wrong passwords from %s", f.name)
	began := time.Now()
	before, known := cpuSeconds(f.server.process)
	ended := make(chan time.Time)
	var failure error
	go func() {
		failure = f.run(ctx)
		close(ended)
	}()
	others, err := a.probe(ctx, token, ended)
	<-ended
	after, alsoKnown := cpuSeconds(f.server.process)
	if err == nil {
		err = failure
	}
	if err != nil {
		return fmt.Errorf("flood from %s: %w", f.name, err)
	}
	figure, most := "wrong passwords from "+f.name+", cores of the server", runtime.NumCPU()
	if cores := (after - before) / time.Since(began).Seconds(); known && alsoKnown {
		b.table.hold(figure, fmt.Sprintf("%.2f; %s", cores, f), fmt.Sprintf("at most %d", most), cores <= float64(most))
	} else {
		b.table.add(figure, "n/a; "+f.String())
	}
	b.table.add("wrong passwords from "+f.name+", other calls meanwhile", others.String())
	return nil
}

// run sends wrong passwords until the time or the calls are used up.
func (f *flood) run(ctx context.Context) error {
	defer f.client.CloseIdleConnections()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	until := time.Now().Add(floodTime)
	var running sync.WaitGroup
	for range floodConnections {
		running.Go(func() {
			for ctx.Err() == nil && time.Now().Before(until) {
				call := f.calls.Add(1)
				if call > floodCalls {
					return
				}
				if err := f.send(ctx, call); err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// send sends one wrong password and counts the answer.
func (f *flood) send(ctx context.Context, call int64) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.server.address+"/api/v3/command/webhook.get", nil)
	if err != nil {
		return err
	}
	request.SetBasicAuth(fmt.Sprintf("user-%d", call), "wrong")
	request.Header.Set("X-Forwarded-For", f.from(call).String())
	response, err := f.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.answers[response.StatusCode].Add(1)
		return nil
	}
	return fmt.Errorf("a wrong password was answered with %s", response.Status)
}

// String tells how the calls were answered.
func (f *flood) String() string {
	count := func(status int) string { return grouped(float64(f.answers[status].Load())) }
	return fmt.Sprintf("answered 401: %s, 429: %s, 503: %s", count(401), count(429), count(503))
}
