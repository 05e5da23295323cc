package pipeline_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice"
)

// store keeps pipelines in memory.
type store struct {
	mu        sync.Mutex
	records   map[string]*sluice.Pipeline
	moved     chan struct{}
	broken    error  // of changes that are not made
	doubtful  error  // of changes that are made
	meanwhile func() // happens before a change
	listed    func() // happens right behind the next look at all
}

func newStore() *store {
	return &store{records: map[string]*sluice.Pipeline{}, moved: make(chan struct{})}
}

// fail lets all changes fail from now on, none with nil.
func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

func (s *store) Get(_ context.Context, key string) (*sluice.Pipeline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[key], nil
}

func (s *store) All() []*sluice.Pipeline {
	s.mu.Lock()
	all, listed := slices.Collect(maps.Values(s.records)), s.listed
	s.listed = nil
	s.mu.Unlock()
	if listed != nil {
		listed()
	}
	return all
}

func (s *store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

func (s *store) Change(_ context.Context, key string, decide func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error)) (*sluice.Pipeline, error) {
	if s.meanwhile != nil {
		s.meanwhile()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	after, err := decide(s.records[key], s.records)
	if err == nil {
		err = s.broken
	}
	switch {
	case err != nil:
		return nil, err
	case after == nil:
		delete(s.records, key)
	default:
		s.records[key] = after
	}
	close(s.moved)
	s.moved = make(chan struct{})
	return after, s.doubtful
}

// queue hands out events from memory. It says what it does on a channel.
type queue struct {
	mu        sync.Mutex
	count     int
	bindings  map[string]*sluice.Binding
	events    map[string]chan sluice.Delivery // by the id of the binding
	handlers  map[string]sluice.Handler       // by pipeline
	outcomes  chan sluice.Outcome
	errors    chan error // of runs without an outcome
	consumed  chan string
	broken    error
	meanwhile func() // happens before a binding is made
}

func newQueue() *queue {
	return &queue{
		bindings: map[string]*sluice.Binding{},
		events:   map[string]chan sluice.Delivery{},
		handlers: map[string]sluice.Handler{},
		outcomes: make(chan sluice.Outcome, 100),
		errors:   make(chan error, 100),
		consumed: make(chan string, 100),
	}
}

func (q *queue) Bind(_ context.Context, pattern string, concurrency int) (*sluice.Binding, error) {
	if q.meanwhile != nil {
		q.meanwhile()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken != nil {
		return nil, q.broken
	}
	q.count++
	b := &sluice.Binding{ID: fmt.Sprint("b", q.count), Pattern: pattern, Concurrency: concurrency}
	q.bindings[b.ID] = b
	q.events[b.ID] = make(chan sluice.Delivery, 100)
	return b, nil
}

func (q *queue) Unbind(_ context.Context, _ string, b *sluice.Binding) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.bindings, b.ID)
	return nil
}

// bound returns the patterns that are bound, in order.
func (q *queue) bound() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var patterns []string
	for _, b := range q.bindings {
		patterns = append(patterns, b.Pattern)
	}
	slices.Sort(patterns)
	return patterns
}

func (q *queue) Consume(ctx context.Context, p *sluice.Pipeline, h sluice.Handler) {
	q.mu.Lock()
	events := q.events[p.Binding.ID]
	q.handlers[p.Name] = h
	q.mu.Unlock()
	q.consumed <- "+" + p.Name + " " + p.Binding.ID
	defer func() { q.consumed <- "-" + p.Name + " " + p.Binding.ID }()
	var wait sync.WaitGroup
	defer wait.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-events:
			wait.Go(func() { q.deliver(ctx, d, h.Run) })
		}
	}
}

// deliver runs a pipeline for an event until it is done.
func (q *queue) deliver(ctx context.Context, d sluice.Delivery, run func(sluice.Delivery) (sluice.Outcome, error)) {
	for {
		began := time.Now()
		outcome, err := run(d)
		switch {
		case err != nil:
			q.errors <- err
			return
		case outcome.Status != sluice.StatusProcessing:
			q.outcomes <- outcome
			return
		}
		d.Attempts = outcome.Attempts
		if d.First.IsZero() {
			d.First = began
		}
		select {
		case <-time.After(time.Until(outcome.Next)):
		case <-ctx.Done():
			q.errors <- ctx.Err()
			return
		}
	}
}

// send hands an event to a pipeline.
func (f *fixture) send(t *testing.T, name string, d sluice.Delivery) {
	t.Helper()
	p, err := f.store.Get(t.Context(), name)
	if err != nil || p == nil || p.Binding == nil {
		t.Fatalf("the pipeline %s is not bound", name)
	}
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	f.queue.events[p.Binding.ID] <- d
}

// letters keeps dead letters, and takes the events that are replayed.
type letters struct {
	mu       sync.Mutex
	kept     []sluice.DeadLetter
	accepted []sluice.Event
}

func (l *letters) Letters(_ context.Context, q sluice.DeadLetterQuery) (found []sluice.DeadLetter, next string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	started := q.Before == ""
	for _, letter := range l.kept {
		if !started {
			started = letter.Letter == q.Before
			continue
		}
		if q.Letter != "" && q.Letter != letter.Letter || q.Pipeline != "" && q.Pipeline != letter.Pipeline ||
			q.Code != "" && q.Code != letter.Error.Code || !q.From.IsZero() && letter.Time.Before(q.From) || !q.To.IsZero() && letter.Time.After(q.To) {
			continue
		}
		if len(found) == q.Limit {
			return found, found[len(found)-1].Letter, nil
		}
		found = append(found, letter)
	}
	return found, "", nil
}

func (l *letters) Groups(_ context.Context, q sluice.DeadLetterQuery) (groups []sluice.DeadLetterGroup, err error) {
	found, _, err := l.Letters(context.Background(), sluice.DeadLetterQuery{Pipeline: q.Pipeline, From: q.From, To: q.To, Limit: 1000})
	if len(found) == 0 || err != nil {
		return nil, err
	}
	return []sluice.DeadLetterGroup{{Pipeline: q.Pipeline, Code: found[0].Error.Code, Count: len(found)}}, nil
}

func (l *letters) Drop(_ context.Context, letter string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.kept)
	for i := range l.kept {
		if l.kept[i].Letter == letter {
			l.kept[i].Pipeline = "" // its place stays, as a cursor
			l.kept[i].Time = time.Time{}
			return nil
		}
	}
	return sluice.CodeLetterUnknown.Errorf("There is none of %d.", before)
}

func (l *letters) Accept(_ context.Context, e *sluice.Event, _ time.Duration) (sluice.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted = append(l.accepted, *e)
	return sluice.Result{CorrelationID: fmt.Sprint("c", len(l.accepted)), TraceID: e.TraceID}, nil
}

// history keeps former sources in memory, and tickings how far schedules are.
type (
	history  = records[sluice.PipelineHistory]
	tickings = records[sluice.Ticking]
)

type records[T any] struct {
	mu      sync.Mutex
	records map[string]*T

	meanwhile func() // happens before a change
}

func (h *records[T]) Get(_ context.Context, key string) (*T, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.records[key], nil
}

func (h *records[T]) All() []*T { return slices.Collect(maps.Values(h.records)) }

func (h *records[T]) Change(_ context.Context, key string, decide func(*T, map[string]*T) (*T, error)) (*T, error) {
	if h.meanwhile != nil {
		h.meanwhile()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	after, err := decide(h.records[key], h.records)
	switch {
	case err != nil:
		return nil, err
	case after == nil:
		delete(h.records, key)
	default:
		h.records[key] = after
	}
	return after, nil
}
