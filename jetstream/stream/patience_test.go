package stream

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// TestSlowDisksAreWaitedFor: the engine in the process answers when the disk lets
// it, so it is asked once; one elsewhere that does not answer is asked again.
func TestSlowDisksAreWaitedFor(t *testing.T) {
	for name, embedded := range map[string]bool{"embedded": true, "external": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewExternal(slog.New(slog.DiscardHandler), 1)
				if embedded {
					h = NewEmbedded(slog.New(slog.DiscardHandler), "")
				}
				asked := 0
				err := h.Insist(t.Context(), "the stream S", func(ctx context.Context) error {
					return h.within(ctx, findTimeout, func(ctx context.Context) error {
						asked++
						if asked > 1 {
							return nil
						}
						select {
						case <-time.After(time.Minute):
							return nil
						case <-ctx.Done():
							return ctx.Err()
						}
					})
				})
				if err != nil || embedded != (asked == 1) {
					t.Errorf("it was asked %d times, %v", asked, err)
				}
			})
		})
	}
}

// TestALateAcknowledgementIsNoFailure: the engine is given up if it stores nothing
// any more, not if it takes its time.
func TestALateAcknowledgementIsNoFailure(t *testing.T) {
	for answer, want := range map[string]int{`{"seq":1}`: 0, `{"error":{"code":503}}`: 2} {
		synctest.Test(t, func(t *testing.T) {
			w := &batchWriter{host: NewEmbedded(slog.New(slog.DiscardHandler), ""), acks: make(chan *nats.Msg, 8), failing: 2}
			w.acks <- &nats.Msg{Subject: "inbox.1", Data: []byte(answer)}
			if _, err := w.acknowledged("inbox.2"); err == nil || w.failing != want {
				t.Errorf("after %s there were %d failures, %v; want %d", answer, w.failing, err, want)
			}
		})
	}
}
