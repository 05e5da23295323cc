package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// clockMode sets the clock of a server that works, by hours, in both directions, and kills
// it. It starts again at the time that it was killed at. Nothing may be lost by that.
var clockMode = mode{
	name:    "clock",
	summary: "set its clock by hours, and kill it (Linux on amd64)",
	run: func(ctx context.Context, s settings) error {
		f := &folder{parent: s.dir}
		jump := func(steps ...time.Duration) func(context.Context, *move) error {
			return func(ctx context.Context, m *move) error { return m.jump(ctx, steps) }
		}
		options := func(name string) []string { return []string{clockOption + "=" + s.dir + "/torture-clock-" + name} }
		trials := s.trials(
			trial{options: options("control"), moveOn: jump(0)},
			[]trial{
				{name: "forward", options: options("forward"), moveOn: jump(5 * time.Hour)},
				{name: "backward", options: options("backward"), moveOn: jump(-5 * time.Hour)},
				{name: "to-and-fro", options: options("to-and-fro"),
					moveOn: jump(3*time.Hour, -3*time.Hour, 7*time.Hour, 0)},
			},
			// Events are kept for a week.
			trial{
				name: "negative control", options: options("negative"), moveOn: jump(8 * 24 * time.Hour),
				mustLose: losses{calls: true, results: true, traces: true},
			},
		)
		for _, t := range trials {
			defer func() { _ = os.Remove(t.clock()) }()
		}
		return runTrials(ctx, f, trials)
	},
}

const clockOption = "clock" // of a server: the file that its clock follows

// clock returns the file that the clock of a trial's server follows.
func (t *trial) clock() string { return t.options[0][len(clockOption+"="):] }

// turnClock sets the clock that a server follows so far from the real time.
func turnClock(path string, ahead time.Duration) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(ahead/time.Second))), 0)
	return errors.Join(err, file.Close())
}

// jump sets the clock from one step to the next, each so far from the real time, under
// load. Calls must be taken at each. Then it kills the server.
func (m *move) jump(ctx context.Context, steps []time.Duration) error {
	for _, step := range steps {
		if err := turnClock(m.clock(), step); err != nil {
			return err
		}
		off, err := m.off(ctx)
		if err != nil {
			return err
		}
		if (off - step).Abs() > time.Minute {
			return fmt.Errorf("the server's clock is %v from ours, and not %v", off, step)
		}
		if err := m.recovers(ctx); err != nil {
			return fmt.Errorf("the clock is %v from the real time: %w", step, err)
		}
		sleep(ctx, time.Second)
	}
	m.server.kill()
	return nil
}

// off returns how far the server's clock is from ours, by the dates of its answers.
func (m *move) off(ctx context.Context) (time.Duration, error) {
	var date time.Time
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/readyz", nil)
	if err != nil {
		return 0, err
	}
	sleep(ctx, 2*time.Second) // a date may be remembered for a second
	answer, err := impatient.Do(r)
	if err != nil {
		return 0, err
	}
	_ = answer.Body.Close()
	if date, err = http.ParseTime(answer.Header.Get("Date")); err != nil {
		return 0, err
	}
	return time.Until(date), nil
}
