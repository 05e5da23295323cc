package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"sluice"
)

// writers is how many goroutines change webhooks that are not called.
const writers = 4

// pause keeps callers that are refused, or whose server is down, from spinning.
const pause = 5 * time.Millisecond

// A load is many callers of one server, at work until it is stopped.
type load struct {
	client *client
	ledger *ledger
	tokens []string
	cancel context.CancelFunc
	work   sync.WaitGroup
	panics chan any // the first panic of a caller
}

// startLoad makes sure that there are webhooks to call, and starts the callers.
func startLoad(ctx context.Context, url string, l *ledger, connections int) (*load, error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &load{
		client: newClient(url, connections+writers),
		ledger: l,
		cancel: cancel,
		panics: make(chan any, 1),
	}
	changed, err := d.prepare(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	for range connections {
		d.start(func() { d.call(ctx) })
	}
	for i := range writers {
		w := &writer{client: d.client, hooks: &l.hooks}
		for j := i; j < len(changed); j += writers {
			w.own = append(w.own, changed[j])
		}
		d.start(func() { w.run(ctx) })
	}
	return d, nil
}

// prepare creates the webhooks to call, and their pipelines, at the first time.
// It returns the others, which are changed meanwhile.
func (d *load) prepare(ctx context.Context) (others []*hook, err error) {
	w := &writer{client: d.client, hooks: &d.ledger.hooks}
	if len(d.ledger.targets) == 0 {
		var created []*hook
		for _, k := range kinds {
			h, err := w.create(ctx)
			if err == nil && k.splits {
				err = d.client.command(ctx, "webhook.put", map[string]any{
					"uuid": h.uuid, "split": "payload", "dedupe": "item:id",
				}, new(sluice.Webhook))
			}
			if err != nil {
				return nil, err
			}
			created = append(created, h)
		}
		if err := storePipelines(ctx, d.client, created, d.ledger.counter.URL); err != nil {
			return nil, err
		}
		d.ledger.targets = created
	}
	called := make(map[*hook]bool)
	for _, h := range d.ledger.targets {
		called[h] = true
		d.tokens = append(d.tokens, h.uuid)
	}
	for _, h := range d.ledger.hooks.live() {
		if !called[h] {
			others = append(others, h)
		}
	}
	return others, nil
}

// start runs a caller. Should it panic, stop panics in its place, where what
// has to be cleaned up is.
func (d *load) start(run func()) {
	d.work.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				select {
				case d.panics <- p:
				default:
				}
			}
		}()
		run()
	})
}

// call calls webhooks until ctx ends, each call twice: as a sender does that has
// not seen the answer. What a load before has sent in vain comes first.
func (d *load) call(ctx context.Context) {
	var body []byte
	for ctx.Err() == nil {
		s, again := d.ledger.takeUnanswered()
		if !again {
			s = sent{d.ledger.newID(), pick(rand.IntN(allKinds))}
		}
		k := kinds[s.kind]
		body = k.appendBody(body[:0], s.id)
		result, err := d.client.receive(ctx, d.tokens[s.kind], s.id, body)
		if err != nil {
			d.ledger.unanswered(s)
			sleep(ctx, pause)
			continue
		}
		r := receipt{id: s.id, kind: s.kind, correlationID: result.CorrelationID, traceID: result.TraceID}
		if repeated, err := d.client.receive(ctx, d.tokens[s.kind], s.id, body); err == nil &&
			!k.repeats(result, repeated) {
			d.ledger.tookTwice()
		}
		if result.Status == sluice.StatusProcessing {
			// The server may go down meanwhile: then a check reads it.
			result, err = d.client.result(ctx, r.correlationID)
		}
		if err == nil {
			r.result = digestOf(result)
		}
		d.ledger.acknowledged(r)
	}
}

// stop ends the load.
func (d *load) stop() {
	d.cancel()
	d.work.Wait()
	d.client.close()
	select {
	case p := <-d.panics:
		panic(fmt.Sprint("a caller panicked: ", p))
	default:
	}
}

// sleep waits, unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
