package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/correlation"
	"sluice/jetstream/delivery"
	"sluice/jetstream/queue"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
)

// eventStream is the stream that holds every event.
const eventStream = "EVENTS"

// withdrawnSubject is what is stored under in place of an event that must not be
// stored any more.
const withdrawnSubject = queue.DirectPrefix + "withdrawn"

// Events implements sluice.Events, sluice.StoredEvents, sluice.EventLog and
// sluice.Results on one stream.
type Events struct {
	host      *stream.Host
	listeners *queue.Listeners
	floors    *queue.Floors
	queue     *queue.Queue
	hub       *queue.Hub
	outcomes  *queue.Outcomes
	keep      retention
	space     *space
	once      deliveries

	deliveryMemory int64 // bytes for the ids of deliveries; 0: no bound

	// mark stores how much there is.
	mark func(context.Context) error

	// stored is called for each event that is on stable storage.
	stored func(sequence uint64, subject string, e *sluice.Event)

	spool  *spool.Spool      // for calls while the engine is away; nil: there is none
	called func(sluice.Call) // enters a call in the journal that the spool has handed over

	ids     correlation.IDs
	stream  jetstream.Stream
	writer  stream.Writer
	created time.Time     // of the stream
	first   atomic.Uint64 // none before it is needed any more

	lost  atomic.Int64 // events found to be lost by the disk
	found sync.Map     // sequences of those of them that no gap at the start has shown
	gaps  []gap        // of the stream at the start
}

// retention is how long events and results are kept, and how many bytes of
// events.
type retention struct {
	age       time.Duration
	maxBytes  int64 // 0: half of the volume (embedded), unlimited (external)
	resultAge time.Duration
}

// setUp creates the stream where it is missing and starts its writer.
func (s *Events) setUp(ctx, running context.Context, ids correlation.IDs) (err error) {
	s.ids = ids
	config, err := s.config(ctx)
	if err != nil {
		return err
	}
	if s.stream, err = s.host.OpenStream(ctx, s.host.JS, config); err != nil {
		return err
	}
	s.created = s.stream.CachedInfo().Created
	s.first.Store(max(1, s.stream.CachedInfo().State.FirstSeq))
	s.measureSpace(s.stream.CachedInfo())
	if s.writer, err = s.host.StartWriter(running, s.stream, stream.WriterOptions{Withdrawn: withdrawnSubject, Busy: true}); err != nil {
		return err
	}
	s.queue.SetUp(ids, s.stream)
	if err := s.setUpDeliveries(ctx, running); err != nil {
		return fmt.Errorf("deliveries: %w", err)
	}
	return nil
}

func (s *Events) config(ctx context.Context) (jetstream.StreamConfig, error) {
	config := s.host.Config(jetstream.StreamConfig{
		Name:        eventStream,
		Subjects:    []string{sluice.EventPrefix + ">", queue.MessagePrefix + ">", queue.DirectPrefix + ">"},
		MaxBytes:    s.keep.maxBytes,
		Discard:     jetstream.DiscardNew, // trim spares what a pipeline has not finished
		AllowDirect: s.host.Embedded,      // a replica may be behind
	})
	if !s.host.Embedded {
		config.Subjects = append(config.Subjects, delivery.MarkerPrefix+">", spool.MarkerPrefix+">")
		config.Duplicates = stream.WithdrawalWindow
	}
	if s.host.Embedded && config.MaxBytes == 0 {
		free, err := durable.FreeSpace(s.host.Dir)
		if err != nil {
			return config, err
		}
		used, err := s.host.JS.AccountInfo(ctx)
		if err != nil {
			return config, err
		}
		config.MaxBytes = max(64<<20, (free+int64(used.Store))/2)
	}
	return config, nil
}

func (s *Events) info(ctx context.Context) (*jetstream.StreamInfo, error) { return s.stream.Info(ctx) }

// buffers holds space for encoded events.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxEvent is how large an event may be: it must also fit in a dead letter.
const maxEvent = maxMessage - 64<<10

// Accept implements sluice.Events.
func (s *Events) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	if err := s.host.Ready(); err != nil {
		return s.spooled(ctx, e, err)
	}
	subject, err := s.address(e)
	if err != nil {
		return sluice.Result{}, err
	}
	var caller *queue.Waiter
	var header nats.Header
	if len(e.Listeners) > 0 && wait > 0 {
		caller = s.hub.Wait(e.TraceID)
		defer s.hub.Leave(e.TraceID, caller)
		header = s.outcomes.Waits()
	}
	var sequence uint64
	if e.Fingerprint == nil {
		sequence, err = s.store(ctx, subject, header, e)
	} else {
		var first *delivery.Accepted
		if sequence, first, err = s.storeOnce(ctx, subject, header, e); first != nil {
			return s.again(ctx, first, e.Fingerprint, wait)
		}
	}
	if err != nil {
		return s.spooled(ctx, e, err)
	}
	id := s.ids.ID(sequence, e.TraceID)
	if len(e.Listeners) == 0 {
		return sluice.Accepted(e.TraceID, id, e.ReceivedAt), nil
	}
	outcomes := make(map[string]sluice.Outcome, len(e.Listeners))
	stored := time.Now()
	if caller != nil {
		caller.Await(ctx, sequence, e.Listeners, outcomes, wait)
	}
	result := sluice.Combine(e.Listeners, outcomes, e.TraceID, id, e.ReceivedAt)
	result.Waited = time.Since(stored)
	return result, nil
}

// address returns the subject of an event, and sets its listeners.
func (s *Events) address(e *sluice.Event) (subject string, err error) {
	if e.To == "" {
		key := e.MessageKey()
		e.Listeners = s.listeners.Of(key)
		return queue.SubjectOf(key), nil
	}
	binding := s.listeners.Binding(e.To)
	if binding == nil {
		return "", sluice.Errorf(sluice.CodePipelineUnknown, "No pipeline of the name %s listens to events.", e.To)
	}
	if !sluice.KeyMatches(binding.Pattern, e.MessageKey()) { // it may rely on what was checked of those it listens to
		return "", sluice.Errorf(sluice.CodePipelineNotListening, "The pipeline %s does not listen to %s.", e.To, e.MessageKey())
	}
	e.Listeners = []string{e.To}
	return queue.DirectPrefix + binding.ID, nil
}

// store puts an event on stable storage.
func (s *Events) store(ctx context.Context, subject string, header nats.Header, e *sluice.Event) (sequence uint64, err error) {
	buffer := buffers.Get().(*[]byte)
	data, err := s.encode(e, (*buffer)[:0])
	if err != nil {
		return 0, err
	}
	if sequence, err = s.writer.Write(ctx, subject, header, data); err != nil {
		return 0, err
	}
	*buffer = data
	buffers.Put(buffer)
	s.stored(sequence, subject, e)
	if s.once.records != nil {
		s.once.records.Note(sequence, e.Fingerprint, e.TraceID)
	}
	return sequence, nil
}

func tooLarge() error {
	return sluice.Errorf(sluice.CodePayloadTooLarge, "The call makes an event of more than %d bytes.", maxEvent)
}

// encode appends an event, if there is space for it.
func (s *Events) encode(e *sluice.Event, space []byte) ([]byte, error) {
	data := e.AppendJSON(space)
	if len(data) > maxEvent {
		return nil, tooLarge()
	}
	if !s.space.take(len(data)) {
		return nil, storageFull()
	}
	return data, nil
}

// Newest implements sluice.StoredEvents.
func (s *Events) Newest(ctx context.Context, eventKey string) (json.RawMessage, error) {
	if err := s.host.Connected(); err != nil {
		return nil, err
	}
	msg, err := s.stream.GetLastMsgForSubject(ctx, sluice.EventPrefix+eventKey)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	return msg.Data, nil
}

// Next implements sluice.StoredEvents.
func (s *Events) Next(ctx context.Context, eventKey string) (json.RawMessage, error) {
	if err := s.host.Connected(); err != nil {
		return nil, err
	}
	sub, err := s.host.Conn.SubscribeSync(sluice.EventPrefix + eventKey)
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails if the connection has gone, which ends it too
	msg, err := sub.NextMsgWithContext(ctx)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	return msg.Data, nil
}
