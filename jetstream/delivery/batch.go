package delivery

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// distinct returns the events of a call that have an id, each id once, in the order of their keys: calls
// that bring the same events wait for each other in this order. The others of an id are repeated.
func distinct(b sluice.Batch) (once []*sluice.Event, repeated map[*sluice.Event]bool) {
	repeated = make(map[*sluice.Event]bool)
	seen := make(map[[12]byte]bool)
	for _, e := range b.Items {
		switch {
		case e.Fingerprint == nil:
		case seen[e.Fingerprint.Key]:
			repeated[e] = true
		default:
			seen[e.Fingerprint.Key] = true
			once = append(once, e)
		}
	}
	slices.SortFunc(once, func(a, b *sluice.Event) int {
		return bytes.Compare(a.Fingerprint.Key[:], b.Fingerprint.Key[:])
	})
	return once, repeated
}

// AcceptBatch implements sluice.Batches.
func (o *Indexed) AcceptBatch(
	ctx context.Context, b sluice.Batch,
) (result sluice.Result, stored []sluice.StoredItem, err error) {
	if err := o.host.Ready(); err != nil {
		return result, nil, err // before Begin, so that there is no doubt
	}
	once, known := distinct(b)
	begun := make(map[*sluice.Event]uint64) // by the event that an unacknowledged attempt would come after
	for _, e := range once {
		first, behind, failed := o.begin(ctx, e)
		if err = failed; err != nil {
			break
		}
		if known[e] = first != nil; first == nil {
			begun[e] = behind
		}
	}
	if err == nil { // Stored ends what was begun
		result, stored, err = o.next.AcceptBatch(ctx, b.Without(func(e *sluice.Event) bool { return known[e] }))
	}
	if err != nil {
		for e, behind := range begun {
			o.fail(e, behind, err)
		}
	}
	return result, stored, err
}

// maxStored is how many messages an external engine stores together.
const maxStored = 1000

// AcceptBatch implements sluice.Batches.
func (o *Marked) AcceptBatch(
	ctx context.Context, b sluice.Batch,
) (result sluice.Result, stored []sluice.StoredItem, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stretch.Of(2*writeTimeout))
	defer cancel()
	once, repeated := distinct(b)
	for range attempts {
		before, known, failed := o.Markers.known(ctx, once)
		if failed != nil {
			return result, nil, stream.NotTaken("the call", failed)
		}
		fresh := b.Without(func(e *sluice.Event) bool { return repeated[e] || known[e] })
		result, stored, err = o.next.AcceptBatchBy(ctx, fresh, func(
			ctx context.Context, messages []*nats.Msg,
		) ([]uint64, error) {
			return o.Markers.writeAll(ctx, fresh, messages, before)
		})
		if api, ok := errors.AsType[*jetstream.APIError](err); !ok || stream.LimitOf(api) != "" {
			return result, stored, err
		}
	}
	return result, nil, stream.NotTaken("the call", err)
}

// known returns which events were accepted before, and the markers of all that have one.
func (m *Markers) known(
	ctx context.Context, events []*sluice.Event,
) (before map[*sluice.Event]uint64, known map[*sluice.Event]bool, err error) {
	var mu sync.Mutex
	before, known = make(map[*sluice.Event]uint64), make(map[*sluice.Event]bool)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for _, e := range events {
		group.Go(func() error {
			first, at, err := m.Find(ctx, e.Fingerprint, sluice.TraceOwner(e.TraceID))
			mu.Lock()
			defer mu.Unlock()
			before[e], known[e] = at, first != nil && e.ReceivedAt.Sub(first.At) < e.Fingerprint.Window
			return err
		})
	}
	return before, known, group.Wait()
}

// writeAll stores a call and its events, each with its marker, and returns their sequences. After
// an APIError none is stored.
func (m *Markers) writeAll(
	ctx context.Context, b sluice.Batch, messages []*nats.Msg, before map[*sluice.Event]uint64,
) ([]uint64, error) {
	if !m.events.CachedInfo().Config.AllowAtomicPublish {
		return nil, tooOld()
	}
	all, places := messages[:1:1], make([]uint64, 1, len(messages))
	for i, e := range b.Items {
		if e.Fingerprint != nil {
			all = append(all, Marker(e.Fingerprint, e.TraceID, before[e]))
		}
		places = append(places, uint64(len(all)))
		all = append(all, messages[i+1])
	}
	if len(all) > maxStored {
		return nil, sluice.CodeTooManyItems.Errorf("An external engine stores at most %d messages together, and this "+
			"call makes %d: one for the call, one for each event, and one for each id.", maxStored, len(all))
	}
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return nil, stream.NotTaken("the call", ctx.Err())
	}
	last, err := m.store(ctx, all)
	if _, answered := errors.AsType[*jetstream.APIError](err); err != nil && !answered {
		m.host.Doubt()
		return nil, stream.NotTaken("the call", err)
	}
	if err != nil {
		return nil, err
	}
	m.host.Wrote()
	for i := range places {
		places[i] += last - uint64(len(all)-1)
	}
	return places, nil
}
