package delivery

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/value"
)

// ReadAtStart makes the next start of an embedded engine that has no records look for
// deliveries among its events. Otherwise a start treats existing events as having no
// delivery ids.
func ReadAtStart(ctx context.Context, h *stream.Host) error {
	if _, err := h.OpenStream(ctx, h.JS, recordConfig(h)); err != nil {
		return err
	}
	_, err := h.JS.Publish(ctx, stream.DeliveriesSubject, make([]byte, 16)) // covers no event
	return err
}

// Convert turns records that were restored from an embedded engine to an external one into
// markers, and deletes the records.
func Convert(ctx context.Context, h *stream.Host, events string) (err error) {
	r := NewRecords(h, NewIndex(0))
	if r.events, err = h.Stream(ctx, h.JS, events); err != nil {
		return err
	}
	if r.stream, err = h.JS.Stream(ctx, stream.Deliveries); err != nil {
		return err
	}
	if r.writer, err = h.StartWriter(ctx, r.stream, stream.WriterOptions{}); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if err := r.index.writeMarkers(ctx, h.JS); err != nil {
		return err
	}
	return h.JS.DeleteStream(ctx, stream.Deliveries)
}

// writeMarkers writes a marker for each known delivery. The marker can't stand right before
// its event, so it names the event.
func (x *Index) writeMarkers(ctx context.Context, js jetstream.JetStream) error {
	const atOnce = 256
	var pending []jetstream.PubAckFuture
	for i := range x.shards {
		for kind := range x.shards[i].histories {
			s := &x.shards[i].histories[kind]
			for number := s.first; number < s.next; number++ {
				e := s.at(number)
				at := e.at()
				content, err := value.Marshal(marker{TraceID: e.accepted("").TraceID, Digest: e.digest[:], Sequence: e.number(), At: &at})
				if err != nil {
					return err
				}
				future, err := js.PublishAsync(markerSubject(e.key), content)
				if err != nil {
					return err
				}
				if pending = append(pending, future); len(pending) == atOnce {
					if err := settle(ctx, pending); err != nil {
						return err
					}
					pending = pending[:0]
				}
			}
		}
	}
	return settle(ctx, pending)
}

// settle waits until messages are stored.
func settle(ctx context.Context, pending []jetstream.PubAckFuture) error {
	for _, future := range pending {
		select {
		case <-future.Ok():
		case err := <-future.Err():
			return errors.Join(errors.New("a marker was not stored"), err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
