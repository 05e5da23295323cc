package stream

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowDisksAreWaitedFor: the engine in the process answers when the disk lets
// it, so it is asked once; one elsewhere that does not answer is asked again.
func TestSlowDisksAreWaitedFor(t *testing.T) {
	for name, embedded := range map[string]bool{"embedded": true, "external": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHost(slog.New(slog.DiscardHandler))
				h.Embedded = embedded
				asked := 0
				err := h.open(t.Context(), "the stream S", func(ctx context.Context) error {
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
				}, nil)
				if err != nil || embedded != (asked == 1) {
					t.Errorf("it was asked %d times, %v", asked, err)
				}
			})
		})
	}
}
