package spool

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"sluice"
	"sluice/jetstream/delivery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// distant is a stream that takes its time to answer.
type distant struct{ jetstream.Stream }

func (distant) GetLastMsgForSubject(ctx context.Context, _ string) (*jetstream.RawStreamMsg, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(100 * time.Millisecond):
		return nil, jetstream.ErrMsgNotFound
	}
}

// TestADistantEngineIsHandedSomeCalls rather than none: each of them has to be looked
// up there first.
func TestADistantEngineIsHandedSomeCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make([]*Call, blockSize)
		for i := range calls {
			content, err := json.Marshal(sluice.Event{
				TraceID:     sluice.NewTraceID("00000000-0000-4000-8000-0000008e28f2", time.Now()),
				Fingerprint: fingerprintOf("token", fmt.Sprint(i), []byte("body"), time.Hour),
			})
			if err != nil {
				t.Fatal(err)
			}
			calls[i] = &Call{Subject: "svc.event.webhook.far", Window: time.Hour, Event: content, place: uint64(i + 1)}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*handOverTimeout)
		defer cancel()
		made, err := Destination{Markers: delivery.NewMarkers(nil, distant{})}.compose(ctx, &store{}, calls)
		if err != nil {
			t.Fatal(err)
		}
		if end, _ := ctx.Deadline(); len(made.events) < 40 || len(made.events) > 60 || time.Until(end) < handOverTimeout-time.Second {
			t.Errorf("%d of %d calls are handed over, with %s left to store them", len(made.events), len(calls), time.Until(end))
		}
	})
}

// fingerprintOf returns the fingerprint of a delivery of a webhook without a key.
func fingerprintOf(owner, id string, body []byte, window time.Duration) *sluice.Fingerprint {
	var e sluice.Event
	e.SetFingerprint(nil, owner, id, body, window)
	return e.Fingerprint
}
