package pipeline

import (
	"cmp"
	"context"
	"reflect"
	"sync"

	"sluice"
)

// Serve hands events to the stored pipelines that listen to them, until ctx ends. It
// follows changes by any node. It returns when all runs have ended: runs that outlast
// the runner's grace are cut off, and their events are handed out again later.
func (r *Runner) Serve(ctx context.Context) error {
	running, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	s := &service{runner: r, consumers: map[string]*consumer{}}
	for ctx.Err() == nil {
		changed := r.Store.Changed() // before looking, so that none is missed
		s.follow(running)
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	for _, c := range s.consumers {
		c.retire()
	}
	grace, cancel := r.Grace()
	defer cancel()
	defer context.AfterFunc(grace, cut)()
	s.wait.Wait()
	return nil
}

// A service is the state of Serve.
type service struct {
	runner    *Runner
	consumers map[string]*consumer // by the id of the binding
	wait      sync.WaitGroup
}

// A consumer takes the events of one binding.
type consumer struct {
	pipeline *sluice.Pipeline // as it was at the start
	retire   context.CancelFunc
}

// follow makes the consumers match the stored pipelines.
func (s *service) follow(ctx context.Context) {
	stored, bound := map[string]*sluice.Pipeline{}, map[string]*sluice.Pipeline{}
	for _, p := range s.runner.Store.All() {
		stored[p.Name] = p
		if p.Binding != nil && !p.Paused {
			bound[p.Binding.ID] = p
		}
	}
	s.runner.keepPrograms(stored)
	for id, c := range s.consumers {
		if bound[id] == nil || !reflect.DeepEqual(bound[id].Binding, c.pipeline.Binding) {
			c.retire()
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
	ctx, retire := context.WithCancel(serving)
	s.wait.Go(func() {
		defer retire()
		s.runner.Queue.Consume(ctx, p,
			sluice.Handler{
				Run:   func(d sluice.Delivery) (sluice.Outcome, error) { return s.run(serving, p, d) },
				Place: s.place(ctx, p),
				Supersede: func(d sluice.Delivery, by string) sluice.Outcome {
					return s.runner.superseded(p, d, by)
				},
			})
	})
	return &consumer{p, retire}
}

// run runs the pipeline as it is stored now. The run outlives the consumer: it goes on
// when a pipeline is changed or deleted, and ends early only when the service stops.
func (s *service) run(ctx context.Context, p *sluice.Pipeline, d sluice.Delivery) (o sluice.Outcome, err error) {
	err = s.runner.fed(ctx, p.Name, func(ctx context.Context) (err error) {
		o, err = s.attempt(ctx, p, d)
		return err
	})
	return o, err
}

func (s *service) attempt(ctx context.Context, p *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error) {
	now, err := s.runner.Store.Get(ctx, p.Name)
	if err != nil {
		return sluice.Outcome{}, err
	}
	// One that was just deleted finishes what it has begun.
	return s.runner.deliver(ctx, cmp.Or(now, p), d)
}
