package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sluice"
	"sluice/stretch"
)

// commit stores a batch and syncs it. After an error, any of its entries may be stored.
func (w *batchWriter) commit(ctx context.Context, batch []*entry) error {
	select {
	case <-w.host.failed:
		return w.host.hasFailed()
	default:
	}
	if err := w.store(batch); err != nil {
		w.failing++
		if w.failing >= maxFailures || w.mayBeTorn(batch, err) {
			w.host.Fail(fmt.Errorf("%d batches in a row were not stored: %w", w.failing, err))
		}
		w.recount(ctx)
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not take the event.").Because(err)
	}
	w.failing = 0
	if w.blocks != nil {
		if err := w.blocks.Sync(); err != nil {
			w.host.Fail(fmt.Errorf("sync of a stream: %w", err))
			return sluice.Passing(sluice.CodeEngineFailed, "The event could not be made durable.").Because(err)
		}
	}
	w.synced.Store(w.last)
	return nil
}

// Durable implements Writer.
func (w *batchWriter) Durable() uint64 { return w.synced.Load() }

// store publishes a batch and waits until the engine has written it.
func (w *batchWriter) store(batch []*entry) error {
	final, count := len(batch)-1, len(batch)
	for i, e := range batch {
		for _, msg := range e.before {
			if err := w.host.Conn.Publish(msg.Subject, msg.Data); err != nil {
				return err
			}
		}
		count += len(e.before)
		if i == final {
			break
		}
		if err := w.host.Conn.Publish(e.subject, e.data); err != nil {
			return err
		}
	}
	w.batches++
	reply := w.inbox + "." + strconv.FormatUint(w.batches, 36)
	if err := w.host.Conn.PublishRequest(batch[final].subject, reply, batch[final].data); err != nil {
		return err
	}
	sequence, err := w.acknowledged(reply)
	if err != nil {
		return err
	}
	if want := w.last + uint64(count); sequence != want {
		return fmt.Errorf("the batch ends at sequence %d instead of %d", sequence, want)
	}
	w.last = sequence
	return nil
}

// acknowledged waits for the acknowledgement that is sent to reply.
func (w *batchWriter) acknowledged(reply string) (sequence uint64, err error) {
	timeout := time.NewTimer(w.host.Patience(ackTimeout))
	defer timeout.Stop()
	for {
		select {
		case msg := <-w.acks:
			var ack acknowledgement
			err := json.Unmarshal(msg.Data, &ack)
			switch {
			case msg.Subject != reply:
				if err == nil && ack.Error == nil {
					w.failing = 0 // an earlier batch was stored late: the engine is slow, but works
				}
			case err != nil:
				return 0, err
			case ack.Error != nil:
				return 0, ack.Error
			default:
				return ack.Sequence, nil
			}
		case <-timeout.C:
			return 0, errLate
		}
	}
}

var errLate = errors.New("the engine did not acknowledge in time")

// mayBeTorn reports whether messages that are stored together may be stored in part after an error.
// An engine that is late has all of them, and stores them in their order.
func (w *batchWriter) mayBeTorn(batch []*entry, err error) bool {
	return !errors.Is(err, errLate) && slices.ContainsFunc(batch, func(e *entry) bool { return e.before != nil })
}

// recount asks for the newest sequence after a batch that may have been stored in part.
func (w *batchWriter) recount(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(ackTimeout))
	defer cancel()
	if info, err := w.stream.Info(ctx); err == nil {
		w.last = info.State.LastSeq
	}
}
