package api_test

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/api"
	"sluice/command"
	"sluice/limit"
)

// silence is a tail on which nothing happens.
type silence struct{}

// Follow implements sluice.Tail.
func (silence) Follow(ctx context.Context, _ sluice.TailQuery) (iter.Seq2[sluice.TailEntry, error], error) {
	return func(func(sluice.TailEntry, error) bool) { <-ctx.Done() }, nil
}

// TestATailEndsWithItsPermission: a tail says that it is alive, and ends soon
// after its reader may not read any more.
func TestATailEndsWithItsPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused atomic.Bool
		handler := api.New(api.Options{
			Commands: command.NewSet(noAudit),
			Authenticate: func(http.ResponseWriter, *http.Request) (sluice.User, error) {
				if refused.Load() {
					return sluice.User{Name: "someone"}, nil
				}
				return sluice.User{Name: "someone", Permissions: []string{"trace.*"}}, nil
			},
			Tail:   silence{},
			Bodies: limit.NewBodies(limit.BodyOptions{}),
			Log:    slog.New(slog.DiscardHandler),
		})
		answer, ended := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(ended)
			handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/api/v3/events", nil))
		}()
		time.Sleep(time.Minute + time.Second)
		select {
		case <-ended:
			t.Fatalf("the tail ended early: %s", answer.Body)
		default:
		}
		refused.Store(true)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the tail goes on")
		}
		said := answer.Body.String()
		if !strings.HasPrefix(said, ": following\n\n: still here\n\n") || !strings.Contains(said, "event: error\ndata: {") || !strings.Contains(said, `"code":"forbidden"`) {
			t.Errorf("the tail said %q", said)
		}
	})
}
