package jetstream

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/delivery"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// Events implements sluice.Events, sluice.StoredEvents and sluice.Results on
// one stream. To it every event is new: package delivery, which stands before it, finds the
// repeated ones.
type Events struct {
	*Engine

	space   *space
	ids     correlation.IDs
	stream  stream.Written
	write   delivery.Write // the writer's
	created time.Time      // of the stream
	first   atomic.Uint64  // no event before it is needed any more

	lost  atomic.Int64 // events that the disk has lost
	found sync.Map     // sequences of lost events that were noticed since the start
	gaps  []gap        // that the stream had at the start
}

// setUp creates the stream if it is missing and starts its writer.
func (s *Events) setUp(ctx, running context.Context, ids correlation.IDs) (err error) {
	s.ids = ids
	config := jetstream.StreamConfig{
		Name:        stream.Events,
		Subjects:    []string{sluice.EventPrefix + ">", stream.MessagePrefix + ">", stream.DirectPrefix + ">"},
		MaxBytes:    s.opts.EventMaxBytes,
		Discard:     jetstream.DiscardNew, // trim spares what a pipeline has not finished
		AllowDirect: s.host.DirectReads,
	}
	if err := s.server.fit(ctx, &config); err != nil {
		return err
	}
	if s.stream, err = s.host.OpenWritten(ctx, running, config,
		stream.WriterOptions{Withdrawn: stream.WithdrawnSubject, Busy: true}); err != nil {
		return err
	}
	s.created = s.stream.CachedInfo().Created
	s.first.Store(max(1, s.stream.CachedInfo().State.FirstSeq))
	s.space.measure(s.stream.CachedInfo(), s.host.Log)
	s.write = s.stream.Write
	s.Queue.SetUp(ids, s.stream)
	return nil
}

// Accept implements sluice.Events.
func (s *Events) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	return s.AcceptBy(ctx, e, wait, s.write)
}

// AcceptBy implements delivery.Engine.
func (s *Events) AcceptBy(
	ctx context.Context, e *sluice.Event, wait time.Duration, write delivery.Write,
) (result sluice.Result, err error) {
	if err := s.host.Ready(); err != nil {
		return result, err
	}
	subject, listeners, err := s.address(e)
	if err != nil {
		return result, err
	}
	var caller *queue.Waiter
	var header nats.Header
	if len(listeners) > 0 && wait > 0 {
		caller = s.Queue.Hub.Wait(e.TraceID)
		defer s.Queue.Hub.Leave(e.TraceID, caller)
		header = s.Queue.Outcomes.Waits()
	}
	sequence, err := s.store(ctx, subject, header, e, listeners, write)
	if err != nil {
		return result, err
	}
	id := s.ids.ID(sequence, e.TraceID)
	if len(listeners) == 0 {
		result = sluice.Accepted(e.TraceID, id, e.ReceivedAt)
		result.Sequence = sequence
		return result, nil
	}
	outcomes := make(map[string]sluice.Outcome, len(listeners))
	stored := time.Now()
	if caller != nil {
		caller.Await(ctx, sequence, listeners, outcomes, wait)
	}
	result = sluice.Combine(listeners, outcomes, e.TraceID, id, e.ReceivedAt)
	result.Listeners, result.Waited, result.Sequence = listeners, time.Since(stored), sequence
	return result, nil
}

// address returns the subject of an event, and the pipelines that listen to it.
func (s *Events) address(e *sluice.Event) (subject string, listeners []string, err error) {
	if e.To == "" {
		key := e.MessageKey()
		listeners = s.Queue.Listeners.Of(key, e.Type)
		if i := slices.Index(listeners, e.Except); i >= 0 {
			listeners = slices.Concat(listeners[:i], listeners[i+1:])
		}
		return queue.SubjectOf(key), listeners, nil
	}
	binding := s.Queue.Listeners.Binding(e.To)
	if binding == nil {
		return "", nil, sluice.NoListener(e.To)
	}
	// It may rely on the checks of the events it listens to.
	if !sluice.KeyMatches(binding.Pattern, e.MessageKey()) || !sluice.HasType(binding.Types, e.Type) {
		return "", nil, sluice.CodePipelineNotListening.Errorf("The pipeline %s does not listen to %s.", e.To,
			strings.TrimSpace(e.MessageKey()+" "+e.Type))
	}
	return stream.DirectPrefix + binding.ID, []string{e.To}, nil
}

// A draft is an event with its listeners, and its JSON.
type draft struct {
	event sluice.Event
	data  []byte
}

var drafts = sync.Pool{New: func() any { return new(draft) }}

// store puts an event on stable storage.
func (s *Events) store(
	ctx context.Context, subject string, header nats.Header, e *sluice.Event, listeners []string, write delivery.Write,
) (sequence uint64, err error) {
	d := drafts.Get().(*draft)
	d.event = *e
	d.event.Listeners = listeners
	data, err := stream.Encode(&d.event, d.data[:0])
	if err != nil {
		return 0, err
	}
	if !s.space.take(len(data)) {
		return 0, storageFull()
	}
	if sequence, err = write(ctx, subject, header, data); err != nil {
		return 0, err // the writer may keep the data
	}
	s.stored(sequence, subject, &d.event)
	d.event, d.data = sluice.Event{}, data
	drafts.Put(d)
	return sequence, nil
}
