package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"sluice"
)

// soak loads a server for long: with calls, repeated ones, pipelines, retries, replays,
// refused calls, and changes of webhooks. What it keeps is bounded by short times, so that
// after a while its memory must stay as it is.
var soak = mode{
	name:    "soak",
	summary: "load it for -minutes; its memory must stay flat (Linux)",
	run: func(ctx context.Context, s settings) error {
		err := soakOnce(ctx, s, "soak", s.minutes, false)
		if s.negative {
			err = errors.Join(err, soakOnce(ctx, s, "negative control", min(s.minutes, leakTime), true))
		}
		return err
	},
}

const (
	leakOption = "leak"          // of a server: bytes a second
	leakRate   = "1048576"       // of the negative control
	leakTime   = 2 * time.Minute // that is enough to see it
	keptFor    = "30s"           // results and events

	flatFactor = 1.10     // the memory at the end may be so much of that after the first third,
	flatBytes  = 16 << 20 // or so many bytes more
)

// bendMemory keeps so many bytes more each second.
func bendMemory(value string) error {
	var rate int
	if _, err := fmt.Sscan(value, &rate); err != nil {
		return err
	}
	go func() {
		var leaked []string
		for {
			time.Sleep(time.Second)
			leaked = append(leaked, strings.Repeat("leak", rate/len("leak")))
			runtime.KeepAlive(leaked)
		}
	}()
	return nil
}

// soakOnce loads a server and compares its memory: after the first third, when all that
// is kept has been filled, and at the end.
func soakOnce(ctx context.Context, s settings, name string, during time.Duration, leaks bool) (err error) {
	f := &folder{parent: s.dir}
	defer func() { err = errors.Join(err, f.clear()) }()
	data, err := f.setUp()
	if err != nil {
		return err
	}
	options := []string{"result-ttl=" + keptFor, "event-max-age=" + keptFor, "event-max-bytes=64MiB"}
	if leaks {
		options = append(options, leakOption+"="+leakRate)
	}
	server, err := launch(data, options...)
	if err != nil {
		return err
	}
	defer server.kill()
	url, err := server.ready(ctx)
	if err != nil {
		return err
	}
	l := newLedger()
	l.counter = newCounter()
	defer l.counter.Close()
	load, err := startLoad(ctx, url, l, s.connections)
	if err != nil {
		return err
	}
	defer load.stop()
	if err := load.alsoOdd(ctx); err != nil {
		return err
	}
	samples, err := server.sample(ctx, name, during)
	if err != nil {
		return err
	}
	early, late := medianOf(samples[len(samples)/3:len(samples)*2/3]), medianOf(samples[len(samples)*2/3:])
	flat := float64(late) <= max(float64(early)*flatFactor, float64(early+flatBytes))
	fmt.Printf("%s: %v, %d calls; resident %d MiB in the second third of the time, %d MiB in the last one\n", name,
		during, l.acked(), early>>20, late>>20)
	switch {
	case leaks && flat:
		return fmt.Errorf("%s: the test can't detect a leak", name)
	case !leaks && !flat:
		return fmt.Errorf("%s: the memory grows", name)
	}
	return nil
}

// sample notes the server's memory once a second.
func (s *server) sample(ctx context.Context, name string, during time.Duration) (samples []int64, err error) {
	for until := time.Now().Add(during); time.Now().Before(until); sleep(ctx, time.Second) {
		select {
		case <-s.exited:
			return nil, fmt.Errorf("%s: the server ended by itself: %w: %s", name, s.err, s.log.text)
		case <-ctx.Done():
			return nil, ctx.Err()
		default:
		}
		samples = append(samples, s.resident())
		if len(samples)%30 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d s, %d MiB\n", name, len(samples), samples[len(samples)-1]>>20)
		}
	}
	if len(samples) < 9 || samples[0] == 0 {
		return nil, errors.New("too few figures of its memory: it takes Linux and some more time")
	}
	return samples, nil
}

func medianOf(samples []int64) int64 {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}

// alsoOdd adds to the load what happens now and then: refused calls, which are kept and
// deleted, and replays.
func (d *load) alsoOdd(ctx context.Context) error {
	var hook sluice.Webhook
	params := map[string]any{
		"eventKey": "webhook.signed", "signature": map[string]any{"header": "X-Signature"},
		"signingSecret": "of the soak",
	}
	if err := d.client.command(ctx, "webhook.put", params, &hook); err != nil {
		return err
	}
	odd, cancel := context.WithCancel(ctx)
	stop := d.cancel
	d.cancel = func() { cancel(); stop() }
	d.start(func() {
		for id := uint64(1 << 40); odd.Err() == nil; id++ {
			// Refused for want of a signature, as it has to be: see quarantine.delete.
			_, _ = d.client.receive(odd, hook.UUID, id, appendBody(nil, id))
			sleep(odd, 50*time.Millisecond)
		}
	})
	d.start(func() {
		for odd.Err() == nil {
			sleep(odd, 3*time.Second)
			_ = d.client.command(odd, "quarantine.delete", map[string]any{"eventKey": "webhook.signed", "limit": 1000},
				new(struct{}))
			_ = d.client.command(odd, "event.replay", map[string]any{"since": "5s", "limit": 50, "force": true},
				new(struct{}))
		}
	})
	return d.oddities(ctx)
}

// oddities makes sure once that the odd commands do what they should.
func (d *load) oddities(ctx context.Context) error {
	var deleted struct{ Deleted int }
	for until := time.Now().Add(settleWithin); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx, time.Second) {
		if err := d.client.command(ctx, "quarantine.delete", map[string]any{"eventKey": "webhook.signed"},
			&deleted); err != nil {
			return err
		}
		if deleted.Deleted > 0 {
			return d.client.command(ctx, "event.replay", map[string]any{"since": "5s", "limit": 1, "force": true},
				new(struct{}))
		}
	}
	return errors.New("no call was refused")
}
