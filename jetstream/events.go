package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// eventStream is the stream that holds every event.
const eventStream = "EVENTS"

// Events implements sluice.Events and sluice.Results on one stream.
type Events struct {
	engine *Engine
	ids    correlator
	stream jetstream.Stream
	writer streamWriter
}

// setUp creates the stream where it is missing and starts its writer.
func (s *Events) setUp(ctx, running context.Context, ids correlator) (err error) {
	s.ids = ids
	config, err := s.config(ctx)
	if err != nil {
		return err
	}
	if s.stream, err = s.engine.js.CreateOrUpdateStream(ctx, config); err != nil {
		return err
	}
	s.writer, err = s.engine.startWriter(running, s.stream)
	return err
}

func (s *Events) config(ctx context.Context) (jetstream.StreamConfig, error) {
	opts := s.engine.opts
	config := jetstream.StreamConfig{
		Name:        eventStream,
		Subjects:    []string{sluice.EventPrefix + ">"},
		MaxAge:      opts.EventMaxAge,
		MaxBytes:    opts.EventMaxBytes,
		Replicas:    max(1, opts.Replicas),
		AllowDirect: true,
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

// Accept implements sluice.Events.
func (s *Events) Accept(ctx context.Context, e *sluice.Event, _ time.Duration) (sluice.Result, error) {
	if err := s.engine.Ready(); err != nil {
		return sluice.Result{}, err
	}
	buffer := buffers.Get().(*[]byte)
	data := e.AppendJSON((*buffer)[:0])
	if len(data) > maxMessage {
		return sluice.Result{}, sluice.Errorf(sluice.TooLarge, "payload-too-large", "The call makes an event of more than %d bytes.", maxMessage)
	}
	sequence, err := s.writer.write(ctx, sluice.EventPrefix+e.EventKey, e.TraceID, data)
	if err != nil {
		return sluice.Result{}, err
	}
	*buffer = data
	buffers.Put(buffer)
	return sluice.Accepted(e.TraceID, s.ids.id(sequence, e.TraceID), e.ReceivedAt), nil
}

// Result implements sluice.Results.
func (s *Events) Result(ctx context.Context, correlationID string, _ time.Duration) (sluice.Result, error) {
	if err := s.engine.connected(); err != nil {
		return sluice.Result{}, err
	}
	sequence, nonce, ok := s.ids.parse(correlationID)
	if !ok {
		return sluice.Result{}, gone()
	}
	msg, err := s.stream.GetMsg(ctx, sequence)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return sluice.Result{}, gone()
	case err != nil:
		return sluice.Result{}, unavailable("engine-unavailable", "The engine did not answer.").Because(err)
	case time.Since(msg.Time) > s.engine.opts.ResultTTL:
		return sluice.Result{}, gone()
	}
	var event sluice.Event
	if err := json.Unmarshal(msg.Data, &event); err != nil {
		return sluice.Result{}, err
	}
	if s.ids.nonce(event.TraceID) != nonce {
		return sluice.Result{}, gone()
	}
	return sluice.Accepted(event.TraceID, correlationID, event.ReceivedAt), nil
}

func gone() error {
	return sluice.Errorf(sluice.Gone, "result-gone", "There is no result with this correlation id, or it has expired.")
}
