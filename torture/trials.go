package main

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// A disk holds the data of one trial after the other.
type disk interface {
	// setUp makes an empty data folder.
	setUp() (data string, err error)
	// clear removes all that setUp made, also if it failed halfway.
	clear() error
}

// trials returns a mode's trials between its controls, as far as they are
// wanted. Negative controls say what they must lose.
func (s settings) trials(control trial, tried []trial, negatives ...trial) []*trial {
	var all []*trial
	if s.control {
		control.name, control.cycles = "control", 1
		all = append(all, &control)
	}
	chosen := strings.Split(s.faults, ",")
	for i := range tried {
		if s.faults == "" || slices.Contains(chosen, tried[i].name) {
			tried[i].cycles = s.cycles
			all = append(all, &tried[i])
		}
	}
	for i := range negatives {
		if s.negative {
			negatives[i].cycles = 1
			all = append(all, &negatives[i])
		}
	}
	for _, t := range all {
		t.settings, t.ledger, t.random = s, newLedger(), s.random()
	}
	return all
}

// runTrials runs trials one after the other, each on an empty disk, and prints
// the table. Its error tells what is not as it should be.
func runTrials(ctx context.Context, d disk, trials []*trial) error {
	var failed error
	for _, t := range trials {
		failed = errors.Join(failed, runTrial(ctx, d, t))
		if ctx.Err() != nil {
			return failed
		}
	}
	return errors.Join(failed, printTable(trials))
}

func runTrial(ctx context.Context, d disk, t *trial) (err error) {
	t.ledger.counter = newCounter()
	defer t.ledger.counter.Close()
	defer func() { err = errors.Join(err, d.clear()) }()
	if t.data, err = d.setUp(); err != nil {
		return err
	}
	return t.run(ctx)
}
