package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// TestAServerThatHangsIsLeft: the engine has its quorum, but the server that this node is
// connected to hangs. Calls are refused in time, the node is not ready, it soon goes to
// another server, and refused calls are not stored later.
func TestAServerThatHangsIsLeft(t *testing.T) {
	defer stretch.By(1)()
	s := natstest.Start(natstest.Options())
	one, two := natstest.StartProxy(t, s.Addr().String()), natstest.StartProxy(t, s.Addr().String())
	e := openEngine(t, Options{URL: one.URL + "," + two.URL, Replicas: 1})
	hung, other := one, two
	if two.Used() {
		hung, other = two, one
	}
	accept(t, e, "abcdef:before")
	// Slower than the engine ever is, even where little else gets done; one that
	// waits for the server instead of leaving it takes more than a minute.
	const soon = 30 * time.Second
	hung.Hang()
	other.Hang() // for as long as it takes until calls are refused
	began := time.Now()

	var calls sync.WaitGroup
	var mu sync.Mutex
	acked, refused := map[string]bool{"abcdef:before": true}, 0
	doubtful := uint64(0) // of the refused ones those that were sent
	for i := range 4 {
		calls.Go(func() {
			for n := 0; time.Since(began) < 2*soon; n++ {
				sent := event(fmt.Sprintf("abcdef:%d-%04d", i, n))
				at := time.Now()
				_, err := e.Events.Accept(t.Context(), sent, 0)
				if took := time.Since(at); took > soon {
					t.Errorf("a call took %v", took)
				}
				mu.Lock()
				if err == nil {
					acked[sent.TraceID] = true
				} else {
					wantKind(t, err, sluice.Unavailable)
					refused++
					if _, sent := errors.AsType[*stream.DoubtError](err); sent {
						doubtful++
					}
				}
				mu.Unlock()
				if err == nil {
					return
				}
				<-time.After(10 * time.Millisecond)
			}
		})
	}
	natstest.Eventually(t, "the node says that it is not ready", func() bool { return e.Ready() != nil })
	if took := time.Since(began); took > soon {
		t.Errorf("it took %v until the node was not ready", took)
	}
	natstest.Eventually(t, "a call is refused that was sent", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return doubtful > 0
	})
	other.GoOn()
	calls.Wait()
	if took := time.Since(began); took > soon || refused == 0 {
		t.Errorf("it took %v and %d refusals until calls were taken again", took, refused)
	}
	natstest.Eventually(t, "the node is ready", func() bool { return e.Ready() == nil })
	natstest.Eventually(t, "what was refused is withdrawn", func() bool {
		info, err := e.Stored.stream.Info(t.Context(), jetstream.WithSubjectFilter("svc.direct.withdrawn"))
		return err == nil && info.State.Subjects["svc.direct.withdrawn"] >= doubtful
	})
	hung.GoOn()
	natstest.Eventually(t, "the server has read what was on its way", func() bool { return !hung.Used() })
	accept(t, e, "abcdef:after")
	acked["abcdef:after"] = true
	if stored := storedEvents(t, e, "webhook.test"); stored != len(acked) {
		t.Errorf("%d events are stored, %d were acknowledged, %d calls refused", stored, len(acked), refused)
	}
}

// TestAPasswordIsChanged: the server has the new password before the nodes do. They reconnect
// however often they were refused.
func TestAPasswordIsChanged(t *testing.T) {
	t.Parallel()
	opts := natstest.Options()
	opts.Username, opts.Password = "sluice", "right"
	s := natstest.Start(opts)
	var log refusals
	e := openEngine(t, Options{URL: strings.Replace(s.ClientURL(), "nats://", "nats://sluice:right@", 1), Replicas: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
	accept(t, e, "abcdef:before")
	reload := func(password string) {
		t.Helper()
		changed := opts.Clone()
		changed.Password, changed.Port = password, s.Addr().(*net.TCPAddr).Port
		if err := s.ReloadOptions(changed); err != nil {
			t.Fatal(err)
		}
	}
	reload("other")
	natstest.Eventually(t, "the node is refused four times", func() bool { return log.count.Load() >= 4 })
	reload("right")
	natstest.Eventually(t, "the node is ready", func() bool { return e.Ready() == nil })
	accept(t, e, "abcdef:after")
}

// refusals counts those of a server among the lines of a log.
type refusals struct{ count atomic.Int64 }

func (r *refusals) Write(line []byte) (int, error) {
	if bytes.Contains(bytes.ToLower(line), []byte("authorization violation")) {
		r.count.Add(1)
	}
	return len(line), nil
}

// TestAFullStoreIsNotReady: load balancers learn what callers learn.
func TestAFullStoreIsNotReady(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), EventMaxBytes: 1 << 20})
	bind(t, e, "p", sluice.EventPrefix+"webhook.hanging", 16)
	natstest.Eventually(t, "the engine is not ready", func() bool {
		big := keyed("webhook.hanging")
		big.Payload = json.RawMessage(`"` + strings.Repeat("x", 50<<10) + `"`)
		_, refused := e.Events.Accept(t.Context(), big, 0)
		err := e.Ready()
		return refused != nil && err != nil && sluice.AsError(err).Code == "storage-full"
	})
}
