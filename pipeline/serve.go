package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice"
)

// errRetired ends a consumer whose pipeline is bound otherwise by now, or not at
// all.
var errRetired = errors.New("the pipeline is not bound so any more")

// consumeAgain is how long a consumer that failed waits.
const consumeAgain = time.Second

// Serve hands events to the stored pipelines that listen to them, until ctx
// ends. It follows changes, whichever node makes them. It returns when all runs
// have ended; those that take longer than the runner's grace are cut off, and
// their events are handed out again later.
func (r *Runner) Serve(ctx context.Context) error {
	running, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	s := &service{Runner: r, consumers: make(map[string]*consumer)}
	for ctx.Err() == nil {
		changed := r.Store.Changed() // before looking, so that none is missed
		s.follow(running)
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	for _, c := range s.consumers {
		c.retire(errRetired)
	}
	defer time.AfterFunc(r.Grace, cut).Stop()
	s.wait.Wait()
	return nil
}

// A service is what Serve has going.
type service struct {
	*Runner

	consumers map[string]*consumer // by the id of the binding
	wait      sync.WaitGroup
}

// A consumer takes the events of one binding.
type consumer struct {
	*Runner

	pipeline *sluice.Pipeline // as it was at the start
	serving  context.Context  //nolint:containedctx // its end stops runs that outlive the consumer
	retire   context.CancelCauseFunc
}

// follow starts and ends consumers as the stored pipelines ask for.
func (s *service) follow(ctx context.Context) {
	stored, bound := make(map[string]*sluice.Pipeline), make(map[string]*sluice.Pipeline)
	for _, p := range s.Store.All() {
		stored[p.Name] = p
		if p.Binding != nil {
			bound[p.Binding.ID] = p
		}
	}
	s.programs.keepOnly(stored)
	for id, c := range s.consumers {
		if bound[id] == nil || bound[id].Binding.Concurrency != c.pipeline.Binding.Concurrency {
			c.retire(errRetired)
			delete(s.consumers, id)
		}
	}
	for id, p := range bound {
		if s.consumers[id] == nil {
			s.consumers[id] = s.start(ctx, p)
		}
	}
}

func (s *service) start(serving context.Context, p *sluice.Pipeline) *consumer {
	ctx, retire := context.WithCancelCause(serving)
	c := &consumer{Runner: s.Runner, pipeline: p, serving: serving, retire: retire}
	s.wait.Go(func() {
		defer retire(nil)
		for ctx.Err() == nil {
			if err := s.Queue.Consume(ctx, p, c.run); err != nil && ctx.Err() == nil {
				s.Log.Error("A pipeline can't take its events; they wait.", "pipeline", p.Name, "error", err.Error())
				_ = pause(ctx, consumeAgain)
			}
		}
	})
	return c
}

// run runs the pipeline as it is stored by now.
func (c *consumer) run(ctx context.Context, d sluice.Delivery) (sluice.Outcome, error) {
	p, err := c.Store.Get(ctx, c.pipeline.Name)
	if err != nil {
		return sluice.Outcome{}, err
	}
	if p == nil {
		p = c.pipeline // deleted this moment: what it has begun, it ends
	}
	ctx, cancel := c.lasting(ctx)
	defer cancel()
	return c.deliver(ctx, p, d)
}

// lasting gives a context that outlives the consumer: runs that have begun end
// in their own way when a pipeline is changed or deleted. They end early only
// when the service stops, or the queue takes the event away.
func (c *consumer) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	taken := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), errRetired) {
			cancel()
		}
	})
	stopped := context.AfterFunc(c.serving, cancel)
	return run, func() {
		taken()
		stopped()
		cancel()
	}
}
