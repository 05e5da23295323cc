package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// eventStream is the stream that holds every event.
const eventStream = "EVENTS"

// Events implements sluice.Events, sluice.StoredEvents and sluice.Results on one
// stream.
type Events struct {
	engine    *Engine
	ids       correlator
	stream    jetstream.Stream
	writer    streamWriter
	outcomes  *outcomes
	listeners *listeners
	hub       *hub
	progress  progress
	room      *room
	damage    damage
	created   time.Time // when the stream was
	inherited uint64    // the last event that was there when this process began
}

func newEvents(e *Engine) *Events {
	h := newHub()
	return &Events{
		engine:    e,
		outcomes:  &outcomes{engine: e, hub: h},
		listeners: newListeners(e.pipelines),
		hub:       h,
		progress:  progress{seen: make(map[string]seenProgress)},
		room:      newRoom(),
	}
}

// setUp creates the streams where they are missing and starts their writers.
func (s *Events) setUp(ctx, running context.Context, ids correlator) (err error) {
	s.ids = ids
	config, err := s.config(ctx)
	if err != nil {
		return err
	}
	if s.stream, err = s.engine.js.CreateOrUpdateStream(ctx, config); err != nil {
		return err
	}
	s.created = s.stream.CachedInfo().Created
	s.inherited = s.stream.CachedInfo().State.LastSeq
	s.measureRoom(s.stream.CachedInfo())
	if s.writer, err = s.engine.startWriter(running, s.stream); err != nil {
		return err
	}
	return s.outcomes.setUp(ctx, running, ids)
}

func (s *Events) config(ctx context.Context) (jetstream.StreamConfig, error) {
	opts := s.engine.opts
	config := jetstream.StreamConfig{
		Name:        eventStream,
		Subjects:    []string{sluice.EventPrefix + ">", messagePrefix + ">", directPrefix + ">"},
		MaxBytes:    opts.EventMaxBytes,
		Discard:     jetstream.DiscardNew, // see trim: what a pipeline has not finished stays
		Replicas:    max(1, opts.Replicas),
		AllowDirect: s.engine.server != nil, // a replica may be behind
		Duplicates:  s.engine.duplicateWindow(),
	}
	if s.engine.server != nil && config.MaxBytes == 0 {
		free, err := freeDisk(opts.Dir)
		if err != nil {
			return config, err
		}
		used, err := s.engine.js.AccountInfo(ctx)
		if err != nil {
			return config, err
		}
		config.MaxBytes = max(64<<20, (free+int64(used.Store))/2)
	}
	return config, nil
}

// buffers holds space for encoded events.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxEvent is how large an event may be: it must also fit in a dead letter.
const maxEvent = maxMessage - 64<<10

// Accept implements sluice.Events.
func (s *Events) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	if err := s.engine.Ready(); err != nil {
		return sluice.Result{}, err
	}
	subject, err := s.address(e)
	if err != nil {
		return sluice.Result{}, err
	}
	var caller *waiter
	if len(e.Listeners) > 0 && wait > 0 {
		caller = s.hub.wait(e.TraceID)
		defer s.hub.leave(e.TraceID, caller)
	}
	sequence, err := s.store(ctx, subject, e)
	if err != nil {
		return sluice.Result{}, err
	}
	id := s.ids.id(sequence, e.TraceID)
	if len(e.Listeners) == 0 {
		return sluice.Accepted(e.TraceID, id, e.ReceivedAt), nil
	}
	outcomes := make(map[string]sluice.Outcome, len(e.Listeners))
	if caller != nil {
		caller.await(ctx, sequence, e.Listeners, outcomes, wait)
	}
	return sluice.Combine(e.Listeners, outcomes, e.TraceID, id, e.ReceivedAt), nil
}

// address gives the subject of an event, and sets who listens to it.
func (s *Events) address(e *sluice.Event) (subject string, err error) {
	if e.To == "" {
		key := e.MessageKey()
		e.Listeners = s.listeners.of(key)
		return subjectOf(key), nil
	}
	binding := s.listeners.binding(e.To)
	if binding == nil {
		return "", sluice.Errorf(sluice.NotFound, "pipeline-unknown", "No pipeline of the name %s listens to events.", e.To)
	}
	e.Listeners = []string{e.To}
	return directPrefix + binding.ID, nil
}

// store puts an event on stable storage.
func (s *Events) store(ctx context.Context, subject string, e *sluice.Event) (sequence uint64, err error) {
	buffer := buffers.Get().(*[]byte)
	data := e.AppendJSON((*buffer)[:0])
	if len(data) > maxEvent {
		return 0, sluice.Errorf(sluice.TooLarge, "payload-too-large", "The call makes an event of more than %d bytes.", maxEvent)
	}
	if !s.room.take(len(data)) {
		return 0, unavailable("storage-full", "The storage of events is full of events that pipelines have not finished.")
	}
	id := e.TraceID
	if e.Hops > 0 || e.Key != "" {
		id = rand.Text() // several events may share the trace id
	}
	if sequence, err = s.writer.write(ctx, subject, id, data); err != nil {
		return 0, err
	}
	*buffer = data
	buffers.Put(buffer)
	s.engine.journal.stored(sequence, subject, e)
	return sequence, nil
}

// Newest implements sluice.StoredEvents.
func (s *Events) Newest(ctx context.Context, eventKey string) (json.RawMessage, error) {
	if err := s.engine.connected(); err != nil {
		return nil, err
	}
	msg, err := s.stream.GetLastMsgForSubject(ctx, sluice.EventPrefix+eventKey)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, noAnswer(err)
	}
	return msg.Data, nil
}

// Next implements sluice.StoredEvents.
func (s *Events) Next(ctx context.Context, eventKey string) (json.RawMessage, error) {
	if err := s.engine.connected(); err != nil {
		return nil, err
	}
	sub, err := s.engine.nc.SubscribeSync(sluice.EventPrefix + eventKey)
	if err != nil {
		return nil, noAnswer(err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails if the connection has gone, which ends it too
	msg, err := sub.NextMsgWithContext(ctx)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, noAnswer(err)
	}
	return msg.Data, nil
}
