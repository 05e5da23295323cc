package pipeline

import (
	"context"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/value"
)

// A weight is what a value takes.
type weight struct {
	size   int // as JSON, about: what the limits of a run are about
	memory int // in memory, about: what all runs share
}

func weightOf(s value.Scale) weight { return weight{s.Size, s.Memory} }

// holdings are what a run has in memory. What it makes on the way to a value
// counts as well, until the step is done.
type holdings struct {
	held   map[target]weight
	total  weight
	making int // bytes made by the step that is being done

	shared  limit.Hold // of the memory of all runs
	refused bool       // there was none
}

func noMemory() error {
	return sluice.Errorf(sluice.CodeNoRunMemory, "The runs of all pipelines together take as much memory as the server allows; try again in a moment.").After(2 * time.Second)
}

// afford checks that a value can be held in place of the one held before.
func (x *execution) afford(ctx context.Context, t target, w weight) error {
	if x.total.size-x.held[t].size+w.size > x.limits.Memory {
		return sluice.Errorf(sluice.CodeTooMuchMemory, "Body, variables and headers would take more than %d MiB together; set those to null that are not needed any more.", x.limits.Memory>>20)
	}
	return x.take(ctx, x.total.memory+w.memory) // the one before stays until then
}

// maxMaking is how many bytes one step may make.
const maxMaking = 128 << 20

// spend counts what a step makes before it has its value.
func (x *execution) spend(ctx context.Context, bytes int) error {
	if x.making += bytes; x.making > maxMaking {
		return sluice.Errorf(sluice.CodeTooMuchMemory, "The values of one step would take more than %d MiB together; work on fewer or smaller ones.", maxMaking>>20)
	}
	return x.take(ctx, x.total.memory+x.making)
}

// take takes of what all runs share, so that it has so many bytes. A run that
// gets none ends, whatever its steps say about errors: it would go on without a
// value that it has asked for.
func (x *execution) take(ctx context.Context, bytes int) error {
	if x.limits.Shared == nil {
		return nil
	}
	if x.shared.Grow(ctx, int64(bytes)) != nil {
		x.refused = true
		return noMemory()
	}
	return nil
}

// made forgets what the step before has made, and gives it back.
func (x *execution) made() {
	x.making = 0
	x.shared.Shrink(int64(x.total.memory))
}
