package pipeline

import (
	"context"
	"fmt"
	"time"
)

// A step is one step of a program: when it is done, what it does, and what
// happens if that fails.
type step struct {
	name    string // of its command or block
	id      string
	number  int // counted from 1, in the order of the source
	line    int
	column  int
	when    *template // nil: always
	onError policy
	action
}

// An action is what a step does: it calls a command, or is a block of steps.
// Errors know their place.
type action interface {
	do(ctx context.Context, x *execution, s *step) error
}

// A policy is what happens when a step fails.
type policy struct {
	retries int
	wait    time.Duration // before each retry
	ignore  bool
}

const (
	defaultStepRetries = 3
	maxStepRetries     = 20
	defaultStepWait    = time.Second
	maxStepWait        = 10 * time.Minute
)

// title returns the step as errors call it, with the line they are about: Step 3,
// http.request "fetch" (line 12).
func (s *step) title(line int) string {
	if s.id != "" {
		return fmt.Sprintf("Step %d, %s %q (line %d)", s.number, s.name, s.id, line)
	}
	return fmt.Sprintf("Step %d, %s (line %d)", s.number, s.name, line)
}

// label returns the step by its command, with its id if it has one.
func label(name, id string) string {
	if id == "" {
		return name
	}
	return name + " (" + id + ")"
}
