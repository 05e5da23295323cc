package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// An attack takes what others need, until ctx ends.
type attack struct {
	name  string
	run   func(ctx context.Context, t *target, d *damage)
	bar   bar
	alone bool // it has a new server to itself, until it ends

	secure bool // it needs HTTP/2
	bare   bool // its negative control is a bare server
}

// A bar is what good callers must still have; what is 0 has none.
type bar struct {
	slower  float64 // times the p99 of a quiet server
	refused int     // good calls; -1: any number
	rise    int64   // of resident memory
	ends    bool    // the server must have ended all connections and calls of the attackers
	brakes  bool    // the server must have refused something of the attackers
}

// damage is what an attacker has seen.
type damage struct {
	refusals atomic.Int64 // answers 503 and 429
	open     atomic.Int64 // connections, or calls that are not answered in time

	once    sync.Once
	inPlace chan struct{} // closed when good callers are to be measured
}

// An outcome is what came of an attack.
type outcome struct {
	attack

	survived, recovered bool
	calls, refused      int
	p99, quiet          time.Duration
	before, peak        int64
	damage              *damage
	mustFail            bool
}

// quietWithin is a p99 that nobody complains about, however quick the server is
// when it is quiet: the attackers take their part of this machine.
const quietWithin = 50 * time.Millisecond

// allowed returns the longest p99 that meets the bar.
func (o *outcome) allowed() time.Duration {
	return max(time.Duration(o.bar.slower*float64(o.quiet)), quietWithin)
}

// slow reports whether good callers had to wait for too long.
func (o *outcome) slow() bool { return o.survived && o.bar.slower > 0 && o.p99 > o.allowed() }

// harmless reports whether an attack was not strong enough to be refused anything.
func (o *outcome) harmless() bool {
	return o.survived && o.bar.brakes && o.damage.refusals.Load() == 0
}

// unanswered reports whether no good caller was served.
func (o *outcome) unanswered() bool { return o.survived && o.refused == o.calls }

// faults tells which bars were missed.
func (o *outcome) faults() (faults []string) {
	miss := func(missed bool, format string, args ...any) {
		if missed {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	if !o.survived {
		return []string{"it did not survive"}
	}
	miss(!o.recovered, "it did not recover")
	miss(o.slow(), "p99 over %s", o.allowed().Round(time.Microsecond))
	miss(o.bar.refused >= 0 && o.refused > o.bar.refused, "good calls refused")
	miss(o.bar.rise > 0 && o.peak-o.before > o.bar.rise, "memory rose by more than %d MiB", o.bar.rise>>20)
	miss(o.bar.ends && o.damage.open.Load() > 0, "%d connections or calls of attackers are open", o.damage.open.Load())
	miss(o.unanswered(), "no good call was served")
	miss(o.harmless(), "nothing was refused to attackers")
	return faults
}

// suffer measures good callers for a time while a server is attacked.
func (t *target) suffer(ctx context.Context, longest time.Duration, a attack) outcome {
	fmt.Fprintln(os.Stderr, "siege:", a.name)
	o := outcome{attack: a, damage: &damage{inPlace: make(chan struct{})}}
	if !a.alone {
		o.quiet = t.callers(ctx, longest/2).p99()
	}
	o.before = t.server.resident()
	t.server.resetPeak()
	attacked, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		a.run(attacked, t, o.damage)
	}()
	select {
	case <-o.damage.inPlace:
	case <-over:
		o.peak = t.server.peak()
	}
	during := t.callers(ctx, longest)
	cancel()
	<-over
	o.calls, o.refused, o.p99 = len(during.took), during.refused, during.p99()
	if !a.alone {
		o.peak = t.server.peak()
	}
	o.recovered = t.recovers(ctx)
	select {
	case <-t.server.exited:
	default:
		o.survived = true
	}
	return o
}

// figures are what good callers have seen.
type figures struct {
	mu      sync.Mutex
	took    []time.Duration
	refused int
}

func (f *figures) note(took time.Duration, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.took = append(f.took, took)
	if !ok {
		f.refused++
	}
}

func (f *figures) p99() time.Duration {
	if len(f.took) == 0 {
		return 0
	}
	slices.Sort(f.took)
	return f.took[len(f.took)*99/100]
}

// callers calls webhooks as good callers do, for a time: small bodies, and now and then
// one of 100 KB. Calls that are under way at the end are waited for.
func (t *target) callers(ctx context.Context, long time.Duration) *figures {
	const callers = 4
	f := new(figures)
	calling, end := context.WithTimeout(ctx, long)
	defer end()
	var work sync.WaitGroup
	for range callers {
		work.Go(func() {
			for calling.Err() == nil {
				started := time.Now()
				ok := t.receive(ctx, t.good, 200)
				f.note(time.Since(started), ok)
				sleep(calling, pause)
			}
		})
	}
	work.Go(func() {
		for calling.Err() == nil {
			if !t.receive(ctx, t.good, 100_000) {
				f.note(0, false)
			}
			sleep(calling, 20*pause)
		}
	})
	work.Wait()
	return f
}

const receivePath = "/api/v3/command/webhook.receive"

// receive calls a webhook and reports whether it was accepted.
func (t *target) receive(ctx context.Context, token string, size int) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.client.url+receivePath,
		bytes.NewReader(make([]byte, size)))
	if err != nil {
		return false
	}
	r.Header.Set("Token", token)
	answer, err := t.client.http.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && answer.StatusCode == http.StatusOK
}

// recovers reports whether the largest body and a hungry run are taken again, soon
// after an attack.
func (t *target) recovers(ctx context.Context) bool {
	const soon = 30 * time.Second
	for began := time.Now(); time.Since(began) < soon && ctx.Err() == nil; sleep(ctx, 20*pause) {
		if t.receive(ctx, t.good, 4<<20) && t.hungryRun(ctx, "1ms") == http.StatusOK {
			return true
		}
	}
	return false
}

// printSiege prints a line for each attack. Its error tells which bars were
// missed, or were not missed in the negative control.
func printSiege(p place, outcomes []outcome) error {
	var failed error
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n"+p.name+"\tsurvived\tcalls\tp99\tquiet p99\trefused\trefused to attackers\tpeak "+
		"memory\tbefore\t")
	for _, o := range outcomes {
		faults := o.faults()
		verdict := "ok"
		switch {
		case len(faults) > 0 && o.mustFail:
			verdict = "ok: noticed: " + faults[0]
		case len(faults) > 0:
			verdict = "FAILED: " + fmt.Sprint(faults)
			failed = errors.Join(failed, fmt.Errorf("%s: %s: %v", p.name, o.name, faults))
		case o.mustFail:
			verdict = "BLIND"
			failed = errors.Join(failed,
				fmt.Errorf("%s: %s: every bar is met: the test can't see a fall", p.name, o.name))
		}
		fmt.Fprintf(w, "%s\t%t\t%d\t%s\t%s\t%d\t%d\t%d MiB\t%d MiB\t  %s\n", o.name, o.survived, o.calls,
			o.p99.Round(10*time.Microsecond),
			o.quiet.Round(10*time.Microsecond), o.refused, o.damage.refusals.Load(), o.peak>>20, o.before>>20, verdict)
	}
	return errors.Join(failed, w.Flush())
}
