package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// walkMode drives a server through random operations and faults, with a ledger of every answer
// beside it, and checks after each settled stretch what the promises say together: see the
// checks in walk_check.go. In the negative controls a fault is planted behind the ledger's
// back, and a check must find it.
var walkMode = mode{
	name:    "walk",
	summary: "go through random operations and faults, and check what the promises say together",
	run:     runWalks,
}

// stretchSteps is how many operations there are between two checks, at most.
const stretchSteps = 30

func runWalks(ctx context.Context, s settings) error {
	fmt.Printf("walk: seed %d, %d nodes, %s\n", s.seed, s.nodes, s.longest)
	began := time.Now()
	w, err := walkFor(ctx, s, s.longest, s.steps, "")
	if w != nil {
		w.report(time.Since(began))
	}
	if violated, ok := errors.AsType[violation](err); ok {
		fmt.Println(violated)
		shortest := shorten(ctx, s, violated)
		return fmt.Errorf("violated: %w\nrepeat it with: torture walk -seed %d -steps %d -nodes %d -seconds %.0f", violated, s.seed,
			shortest, s.nodes, s.longest.Seconds())
	}
	if err != nil || !s.negative || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	for _, planted := range plantedFaults {
		if planted.alone && s.nodes > 1 {
			continue
		}
		_, err := walkFor(ctx, s, s.longest, controlSteps, planted.name)
		violated, ok := errors.AsType[violation](err)
		if !ok {
			return errors.Join(fmt.Errorf("negative control: %s was not found", planted.name), err)
		}
		fmt.Printf("negative control: %s was found: %s\n", planted.name, violated)
	}
	return nil
}

// controlSteps is how many operations a negative control has before the fault is planted.
const controlSteps = 40

// shorten looks for a shorter walk with the same seed that is violated too. Its load depends
// on timing, so the answer is the shortest prefix that was found, and not the shortest there is.
func shorten(ctx context.Context, s settings, v violation) int {
	shortest := v.step
	for steps, until := v.step/2, time.Now().Add(min(3*s.longest, shortenWithin)); steps >= 10 && ctx.Err() == nil; steps /= 2 {
		_, err := walkFor(ctx, s, time.Until(until), steps, "")
		again, ok := errors.AsType[violation](err)
		if !ok {
			break
		}
		shortest = again.step
	}
	return shortest
}

// shortenWithin is how long a shorter walk is looked for, at most.
const shortenWithin = 10 * time.Minute

// A violation is a promise that was found broken.
type violation struct {
	step  int
	found []string
}

func (v violation) Error() string {
	return fmt.Sprintf("after %d steps:\n  %s", v.step, strings.Join(v.found, "\n  "))
}

// A walk is one server, what was done to it, and what it has to know of that.
type walk struct {
	*world
	*book

	random *rand.Rand
	step   int
	done   map[string]int // operations by name
	trail  []string       // the latest operations
}

// walkFor walks until the time is over or that many steps are done, and ends with a check. A
// planted fault comes before the last check.
func walkFor(ctx context.Context, s settings, long time.Duration, steps int, planted string) (_ *walk, err error) {
	ctx, cancel := context.WithTimeout(ctx, long+4*settleTime+startWithin)
	defer cancel()
	b := newBook()
	at, err := newWorld(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, at.remove(err != nil)) }()
	w := &walk{world: at, book: b, random: s.random(), done: make(map[string]int)}
	if err := w.prepare(ctx); err != nil {
		return w, err
	}
	until := time.Now().Add(long)
	for w.step < steps && time.Now().Before(until) && ctx.Err() == nil {
		for range 5 + w.random.IntN(stretchSteps-4) {
			if w.step >= steps || time.Now().After(until) {
				break
			}
			if err := w.next(ctx); err != nil {
				return w, err
			}
		}
		if err := w.settleAndCheck(ctx); err != nil {
			return w, err
		}
	}
	for _, fault := range plantedFaults {
		if fault.name == planted {
			if err := fault.plant(ctx, w); err != nil {
				return w, err
			}
			return w, w.settleAndCheck(ctx)
		}
	}
	return w, nil
}

// operations are all that this walk can do.
func (w *walk) operations() []operation {
	if w.engine == nil {
		return operations
	}
	return slices.Concat(operations, engineOperations)
}

// next does one random operation.
func (w *walk) next(ctx context.Context) error {
	all := 0
	for _, o := range w.operations() {
		all += o.weight
	}
	choice := w.random.IntN(all)
	for _, o := range w.operations() {
		if choice -= o.weight; choice >= 0 {
			continue
		}
		w.step++
		w.done[o.name]++
		w.trail = append(w.trail, fmt.Sprintf("%s %d %s", time.Now().Format("15:04:05.000"), w.step, o.name))
		if os.Getenv("TORTURE_KEEP") != "" {
			fmt.Println(w.trail[len(w.trail)-1])
		}
		if err := errors.Join(w.revive(ctx), o.do(ctx, w)); err != nil {
			return fmt.Errorf("step %d, %s: %w", w.step, o.name, err)
		}
		return nil
	}
	return nil
}

// report prints what was done.
func (w *walk) report(took time.Duration) {
	fmt.Printf("%d steps, %d calls acknowledged, %d rejected, %d starts, %d checks, %d copies in %s\n",
		w.step, len(w.calls), len(w.rejected), w.starts, w.checks, w.copies, took.Round(time.Second))
	for _, o := range w.operations() {
		fmt.Printf("  %-24s %d\n", o.name, w.done[o.name])
	}
}
