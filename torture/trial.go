package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// A trial takes a server down again and again on one data folder. What it has
// acknowledged adds up, and each cycle looks for all of it.
type trial struct {
	name     string
	settings settings
	cycles   int
	data     string
	options  []string // of the server
	mustLose losses   // it is a negative control

	// prepare is called before the load starts; nil: nothing to do.
	prepare func() error

	// takeDown ends the server in the way that is tried, and leaves the data
	// folder as the next start finds it.
	takeDown func(*server) error

	// moveOn ends the server, and makes the data folder that the next one is
	// started on; nil: takeDown does.
	moveOn func(context.Context, *move) error

	// inspect looks at more than the ledger, at a server that was started again;
	// nil: there is no more.
	inspect func(ctx context.Context, t *trial, url string) error

	// anyTime takes the server down at random moments, now and then also while
	// it starts; otherwise it is after half of the longest load.
	anyTime bool

	ledger     *ledger
	random     *rand.Rand
	duplicated int
	done       int // cycles
}

// losses are what a negative control has to lose, and may.
type losses struct{ calls, results, traces bool }

// cover reports whether these are at least the others.
func (l losses) cover(others losses) bool {
	return (l.calls || !others.calls) && (l.results || !others.results) && (l.traces || !others.traces)
}

// run runs the cycles and prints a line for each.
func (t *trial) run(ctx context.Context) error {
	for t.done < t.cycles {
		acked, moment := t.ledger.acked(), t.settings.longest/2
		if t.anyTime {
			moment = t.settings.moment(t.random)
		}
		fmt.Fprintf(os.Stderr, "%s, cycle %d: load for %v\n", t.name, t.done+1, moment.Round(time.Millisecond))
		if err := t.cycle(ctx, moment); err != nil {
			return fmt.Errorf("%s, cycle %d: %w", t.name, t.done+1, err)
		}
		t.done++
		if t.ledger.acked() == acked {
			return fmt.Errorf("%s, cycle %d: no call was acknowledged", t.name, t.done)
		}
		fmt.Printf("%s, cycle %d: down after %v; in all %s\n", t.name, t.done, moment.Round(time.Millisecond),
			t.figures())
	}
	return nil
}

// cycle loads a server, takes it down, and checks what is left.
func (t *trial) cycle(ctx context.Context, moment time.Duration) error {
	if err := t.loadAndTakeDown(ctx, moment); err != nil {
		return err
	}
	if t.anyTime && t.random.IntN(3) == 0 {
		if err := t.takeDownStarting(ctx); err != nil {
			return err
		}
	}
	return t.check(ctx)
}

func (t *trial) loadAndTakeDown(ctx context.Context, moment time.Duration) error {
	s, err := launch(t.data, t.options...)
	if err != nil {
		return err
	}
	defer s.kill()
	url, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if t.prepare != nil {
		if err := t.prepare(); err != nil {
			return err
		}
	}
	before := t.ledger.acked()
	load, err := startLoad(ctx, url, t.ledger, t.settings.connections)
	if err != nil {
		return err
	}
	defer load.stop()
	// On a busy machine the first answers may take longer than the moment. A negative
	// control must have enough to lose.
	least := 1
	if t.mustLose != (losses{}) {
		least = 16 * t.settings.connections
	}
	for waited := time.Now(); t.ledger.acked() < before+least && time.Since(
		waited) < answersWithin && ctx.Err() == nil; {
		sleep(ctx, pause)
	}
	sleep(ctx, moment)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case <-s.exited:
		return fmt.Errorf("the server ended by itself: %w: %s", s.err, s.log.text)
	default:
	}
	if t.moveOn != nil {
		return t.moveOn(ctx, &move{t, s, url, load})
	}
	return t.takeDown(s)
}

// answersWithin is how long the first answers may take.
const answersWithin = time.Minute

// takeDownStarting takes the server down before, or shortly after, it is ready.
func (t *trial) takeDownStarting(ctx context.Context) error {
	s, err := launch(t.data, t.options...)
	if err != nil {
		return err
	}
	defer s.kill()
	moment := time.Duration(t.random.Int64N(int64(300 * time.Millisecond)))
	fmt.Fprintf(os.Stderr, "%s, cycle %d: down again, %v into its start\n", t.name, t.done+1,
		moment.Round(time.Millisecond))
	sleep(ctx, moment)
	return t.takeDown(s)
}

// check starts the server again and looks for all that was acknowledged. If it
// doesn't start, everything is lost; only a negative control may come to that.
func (t *trial) check(ctx context.Context) error {
	s, err := launch(t.data, t.options...)
	if err != nil {
		return err
	}
	defer s.kill()
	url, err := s.ready(ctx)
	if err != nil {
		if ctx.Err() == nil {
			t.ledger.loseAll()
		}
		if t.mustLose != (losses{}) {
			err = ctx.Err()
		}
		return err
	}
	if err := checkOverHTTP(ctx, url, t.ledger, t.random); err != nil {
		return err
	}
	if t.inspect != nil {
		if err := t.inspect(ctx, t, url); err != nil {
			return err
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	stored, err := readEvents(ctx, t.data)
	if err != nil {
		return err
	}
	t.duplicated = t.ledger.compare(stored)
	return nil
}
