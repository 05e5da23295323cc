package jetstream

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// leavingOut is the stream of events as a cluster shows it while a consumer has no leader: it
// is missing in the list, and asking for it gets no reply.
type leavingOut struct {
	jetstream.Stream

	name string
	err  error // of who asks for the consumer
}

func (s leavingOut) ListConsumers(ctx context.Context) jetstream.ConsumerInfoLister {
	l := &partialList{all: s.Stream.ListConsumers(ctx), infos: make(chan *jetstream.ConsumerInfo)}
	go func() {
		defer close(l.infos)
		for info := range l.all.Info() {
			if info.Name != s.name {
				l.infos <- info
			}
		}
	}()
	return l
}

func (s leavingOut) Consumer(ctx context.Context, name string) (jetstream.Consumer, error) {
	if name == s.name {
		return nil, s.err
	}
	return s.Stream.Consumer(ctx, name)
}

type partialList struct {
	all   jetstream.ConsumerInfoLister
	infos chan *jetstream.ConsumerInfo
}

func (l *partialList) Info() <-chan *jetstream.ConsumerInfo { return l.infos }
func (l *partialList) Err() error                           { return l.all.Err() }

// TestNothingIsTrimmedOnAGuess: while a pipeline's consumer does not reply, its events stay,
// however old they are and however full the store is. A consumer that is known to be lost
// goes on from its low-water mark.
func TestNothingIsTrimmedOnAGuess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		fails bool
		left  uint64
	}{
		"a consumer does not answer": {nats.ErrTimeout, true, 21},
		"a consumer is lost":         {jetstream.ErrConsumerNotFound, false, 11}, // all since it was bound
	} {
		t.Run(name, func(t *testing.T) {
			e := openEngine(t, Options{Dir: t.TempDir()})
			for range 10 {
				send(t, e, "webhook.other", 0)
			}
			p := bind(t, e, "p", sluice.EventPrefix+"webhook.slow", 16)
			send(t, e, "webhook.slow", 0)
			for range 10 {
				send(t, e, "webhook.other", 0)
			}
			e.Queue.SetUp(e.Stored.ids, leavingOut{e.Stored.stream, p.Binding.ID, test.err})
			before, err := e.Stored.stream.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Stored.remove(t.Context(), before, before.State.LastSeq+1); (err != nil) != test.fails {
				t.Errorf("trimming ends with %v", err)
			}
			if info, err := e.Stored.stream.Info(t.Context()); err != nil || info.State.Msgs != test.left {
				t.Errorf("%d of 21 events are left, want %d (%v)", info.State.Msgs, test.left, err)
			}
			if backlogs, err := e.Queue.Backlogs(t.Context()); (err != nil) != test.fails || len(backlogs) != 0 {
				t.Errorf("the backlogs are %v, %v", backlogs, err)
			}
			if err := e.Queue.LowWater.Write(t.Context()); (err != nil) != test.fails {
				t.Errorf("writing the floors ends with %v", err)
			}
		})
	}
}

// TestTrimmingByAgeWithGaps: younger events behind a gap are not mistaken for old ones.
func TestTrimmingByAgeWithGaps(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	for range 10 {
		send(t, e, "webhook.old", 0)
	}
	limit := time.Now()
	var young []uint64
	for range 10 {
		place, _ := e.Stored.ids.Parse(send(t, e, "webhook.young", 0).CorrelationID)
		sequence := place.Sequence
		young = append(young, sequence)
	}
	for _, gone := range young[:9] {
		if err := e.Stored.stream.DeleteMsg(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	until, err := stream.FirstSince(t.Context(), e.Stored.stream, 1, young[9], limit)
	if err != nil || until != young[0] {
		t.Errorf("events before %d are too old, want those before %d (%v)", until, young[0], err)
	}
}

func TestTrimmingStopsAtTheUnfinished(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), EventMaxAge: time.Millisecond})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.slow", 16)
	for range 10 {
		send(t, e, "webhook.other", 0)
	}
	send(t, e, "webhook.slow", 0)
	for range 10 {
		send(t, e, "webhook.other", 0)
	}
	natstest.Eventually(t, "all but the unfinished and what follows is trimmed", func() bool {
		info, err := e.Stored.stream.Info(t.Context())
		return err == nil && info.State.Msgs == 11
	})
	consume(t, e, p, answering(p, `1`))
	natstest.Eventually(t, "all is trimmed", func() bool {
		info, err := e.Stored.stream.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
}

func TestAFullStoreRefusesOnlyWhatNobodyFinished(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), EventMaxBytes: 4 << 20})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.hanging", 16)
	big := func(key string) error {
		ev := keyed(key)
		ev.Payload = json.RawMessage(`"` + strings.Repeat("x", 200<<10) + `"`)
		_, err := e.Events.Accept(t.Context(), ev, 0)
		return err
	}
	first := send(t, e, "webhook.hanging", 0)
	natstest.Eventually(t, "the store is full", func() bool { return e.Stored.space.full.Load() || big("webhook.filler") != nil })
	if err := big("webhook.filler"); err == nil || sluice.AsError(err).Code != "storage-full" {
		t.Errorf("a full store answers %v", err)
	}
	consume(t, e, p, answering(p, `1`))
	natstest.Eventually(t, "there is room again", func() bool { return big("webhook.filler") == nil })
	if got, err := e.Results.Result(t.Context(), first.CorrelationID, patience); err == nil && got.Status != sluice.StatusOK {
		t.Errorf("the event that was waited for has the status %s", got.Status)
	}
}
