package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/pipeline"
)

const everyQuarter = "schedule: {cron: '*/15 * * * *'}\npipeline: [pass]"

// keepingTime runs KeepTime for a while, by a clock that stands still otherwise.
func (f *fixture) keepingTime(t *testing.T, lasts time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	f.KeepTime(ctx)
}

// ticks returns the payloads of the events that were sent for a pipeline.
func (f *fixture) sentTicks(name string) (payloads []string) {
	f.letters.mu.Lock()
	defer f.letters.mu.Unlock()
	for _, e := range f.letters.accepted {
		if e.EventKey == "sluice.schedule."+name {
			payloads = append(payloads, string(e.Payload))
		}
	}
	return payloads
}

func tickAt(minutes, missed int) string { // the clock of a bubble starts with the year 2000
	at := time.Date(2000, 1, 1, 0, minutes, 0, 0, time.UTC)
	return fmt.Sprintf(`{"at":"%s","missed":%d}`, at.Format(time.RFC3339), missed)
}

// TestSchedule: which events a schedule sends.
func TestSchedule(t *testing.T) {
	const m = time.Minute
	for name, test := range map[string]struct {
		steps func(t *testing.T, f *fixture)
		want  []string
	}{
		"one at each time": {func(t *testing.T, f *fixture) { f.keepingTime(t, 31*m) }, []string{tickAt(15, 0), tickAt(30, 0)}},
		"none before it is stored": {func(t *testing.T, f *fixture) {
			time.Sleep(20 * m)
			f.put(t, "other", everyQuarter)
			f.keepingTime(t, m)
			if got := f.sentTicks("other"); got != nil {
				t.Errorf("%s was sent", got)
			}
		}, []string{tickAt(15, 0)}},
		"one for all that were missed": {func(t *testing.T, f *fixture) {
			f.keepingTime(t, 16*m)
			time.Sleep(60 * m)
			f.keepingTime(t, m)
		}, []string{tickAt(15, 0), tickAt(75, 3)}},
		"missed before the first look": {func(t *testing.T, f *fixture) {
			time.Sleep(46 * m)
			f.keepingTime(t, m)
		}, []string{tickAt(45, 2)}},
		"missed by a clock that was ahead by years": {func(t *testing.T, f *fixture) {
			f.keepingTime(t, 16*m)
			time.Sleep(20 * 365 * 24 * time.Hour)
			f.keepingTime(t, m)
		}, []string{tickAt(15, 0), tickAt(15+20*365*24*60, 100_000)}},
		"the same schedule stored again goes on": {func(t *testing.T, f *fixture) {
			f.keepingTime(t, 16*m)
			time.Sleep(15 * m)
			f.put(t, "p", everyQuarter+"\nrate: 5/s")
			f.keepingTime(t, m)
		}, []string{tickAt(15, 0), tickAt(30, 0)}},
		"another schedule begins anew": {func(t *testing.T, f *fixture) {
			f.keepingTime(t, m)
			time.Sleep(30 * m)
			f.put(t, "p", "schedule: {cron: '40 * * * *'}\npipeline: [pass]")
			f.keepingTime(t, 10*m)
		}, []string{tickAt(40, 0)}},
		"another pipeline of that name begins anew": {func(t *testing.T, f *fixture) {
			f.keepingTime(t, m)
			time.Sleep(30 * m)
			if _, err := f.call(t.Context(), "pipeline.delete", arg("name", "p")); err != nil || len(f.ticks.records) != 0 {
				t.Error(err, f.ticks.records)
			}
			f.put(t, "p", everyQuarter)
			f.keepingTime(t, 15*m)
		}, []string{tickAt(45, 0)}},
		"none without a schedule": {func(t *testing.T, f *fixture) {
			f.put(t, "p", "pipeline: [pass]")
			f.keepingTime(t, 60*m)
		}, nil},
		"as long as it is paused, too": {func(t *testing.T, f *fixture) {
			if _, err := f.call(t.Context(), "pipeline.pause", arg("name", "p")); err != nil {
				t.Error(err)
			}
			f.keepingTime(t, 16*m)
		}, []string{tickAt(15, 0)}},
		"also after a clock was wrong": {func(t *testing.T, f *fixture) {
			f.keepingTime(t, m)
			f.ticks.records["p"].At = time.Now().Add(24 * time.Hour)
			f.keepingTime(t, 15*m)
		}, []string{tickAt(15, 0)}},
		"by all nodes the same": {func(t *testing.T, f *fixture) {
			var nodes sync.WaitGroup
			for range 3 {
				nodes.Go(func() { f.keepingTime(t, 16*m) })
			}
			nodes.Wait()
			f.letters.mu.Lock()
			defer f.letters.mu.Unlock()
			for _, e := range f.letters.accepted[1:] { // the store of events takes one of them
				if *e.Fingerprint != *f.letters.accepted[0].Fingerprint {
					t.Errorf("%+v has an identity of its own", e)
				}
			}
			f.letters.accepted = f.letters.accepted[:1]
		}, []string{tickAt(15, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.put(t, "p", everyQuarter)
				test.steps(t, f)
				if got := f.sentTicks("p"); fmt.Sprint(got) != fmt.Sprint(test.want) {
					t.Errorf("the events are %s, want %s", got, test.want)
				}
			})
		})
	}
}

// TestATimeIsNeverLost: an event that could not be sent is sent later, as it was decided, also by
// the next process.
func TestATimeIsNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &unsteadyEvents{errs: 3}
		f := newFixture(func(o *pipeline.RunnerOptions) { down.Events, o.Events = o.Events, down })
		f.put(t, "p", everyQuarter)
		f.keepingTime(t, 15*time.Minute+1500*time.Millisecond) // two tries
		if got, stored := f.sentTicks("p"), f.ticks.records["p"]; got != nil || stored.Sent {
			t.Fatalf("%s was sent, and %+v is stored", got, stored)
		}
		time.Sleep(20 * time.Minute) // the process is not there
		f.keepingTime(t, time.Minute)
		if got, want := fmt.Sprint(f.sentTicks("p")), fmt.Sprint([]string{tickAt(15, 0), tickAt(30, 0)}); got != want {
			t.Errorf("the events are %s, want %s", got, want)
		}
	})
}

// unsteadyEvents refuse some events.
type unsteadyEvents struct {
	sluice.Events
	errs int
}

func (u *unsteadyEvents) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	if u.errs--; u.errs >= 0 {
		return sluice.Result{}, errors.New("not now")
	}
	return u.Events.Accept(ctx, e, wait)
}

// TestScheduledPipelines: what is shown of them, and what they are called.
func TestScheduledPipelines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		source := "schedule: {cron: '@daily', zone: Europe/Berlin}\npipeline: [pass]"
		answer, err := f.call(t.Context(), "pipeline.put", arg("name", "shop.sync"), arg("source", source))
		view := object(t, answer, err)
		if view["schedule"] != "@daily Europe/Berlin" || view["next"] != "2000-01-01T23:00:00Z" || view["listens"] != "svc.event.sluice.schedule.shop.sync" || view["warnings"] != nil {
			t.Errorf("it is %v", view)
		}
		if bound := f.queue.bound(); fmt.Sprint(bound) != "[svc.event.sluice.schedule.shop.sync]" {
			t.Errorf("%s are bound", bound)
		}
		for _, name := range []string{"a..b", "a."} {
			_, err := f.call(t.Context(), "pipeline.put", arg("name", name), arg("source", source))
			if e := sluice.AsError(err); err == nil || e.Parameter != "name" || e.Kind != sluice.Invalid || f.store.records[name] != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := f.call(t.Context(), "pipeline.put", arg("name", "x"), arg("source", strings.Replace(source, "@daily", "0 0 31 2 *", 1))); !sluice.CodePipelineInvalid.Is(err) {
			t.Errorf("a schedule without times is %v", err)
		}
	})
}

// TestATimeIsOneEvent: a process that ends behind the sending of an event, and before it knows that
// it was stored, makes no second one.
func TestATimeIsOneEvent(t *testing.T) {
	options := jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: slog.New(slog.DiscardHandler)}
	for range 2 {
		e, err := jetstream.Open(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		keepTimeOnce(t, e)
		message, err := e.Stored.Newest(t.Context(), "sluice.schedule.p")
		if err != nil || !strings.Contains(string(message), `"missed":1}`) {
			t.Errorf("the event is %s, %v", message, err)
		}
		calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{EventKey: "sluice.schedule.p", Limit: 10})
		if err != nil || len(calls) != 1 {
			t.Errorf("the events are %+v, %v", calls, err)
		}
		e.Close()
	}
}

// keepTimeOnce lets a schedule of an engine send the event of the last two years, or send it again.
func keepTimeOnce(t *testing.T, e *jetstream.Engine) {
	t.Helper()
	f := newFixture(func(o *pipeline.RunnerOptions) {
		o.Store, o.Tickings, o.Events, o.Queue, o.History = e.Pipelines, e.Tickings, e.Events, e.Queue, e.Versions
	})
	f.put(t, "p", "schedule: {cron: '@yearly'}\npipeline: [pass]")
	stored, err := e.Pipelines.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sluice.Replace(t.Context(), e.Tickings, "p", func(before *sluice.Ticking) (*sluice.Ticking, error) {
		after := sluice.Ticking{Schedule: "@yearly UTC", Created: stored.Created, At: time.Now().AddDate(-2, 0, 0), Sent: true}
		if before != nil {
			after = *before
			after.Sent = false
		}
		return &after, nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var keeping sync.WaitGroup
	keeping.Go(func() { f.KeepTime(ctx) })
	defer keeping.Wait()
	defer cancel()
	for sent := false; !sent; runtime.Gosched() {
		ticking, err := e.Tickings.Get(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		sent = ticking.Sent && ticking.At.Year() == time.Now().Year()
	}
}
