package run

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/pipeline/source"
	"sluice/value"
)

// A weight is what a value takes.
type weight struct {
	size   int // about as many bytes as its JSON has; maxMemory bounds it
	memory int // about as many bytes as it takes in memory, of the budget of all runs
}

// usage is the memory of a run. Values on the way to an output count as well, until the
// step is done.
type usage struct {
	held   map[source.Target]weight
	total  weight
	making int // bytes that the current step has made

	shared limit.Hold // of the memory of all runs
	waited bool       // for that
}

func noMemory() error {
	return sluice.CodeNoRunMemory.Errorf(
		"The runs of all pipelines together take as much memory as the server allows; try again in a moment.").
		After(2 * time.Second)
}

// Bounds of a run, so that no pipeline harms the others; see Limits for those that differ.
const (
	maxSteps  = 10_000
	maxItems  = 10_000   // of a list that foreach goes through
	maxMemory = 64 << 20 // bytes of all values that a run holds
	maxResult = 4 << 20  // bytes of a final body as JSON
)

// afford checks that there is memory for a value that replaces another one.
func (x *execution) afford(ctx context.Context, t source.Target, w weight) error {
	if x.total.size-x.held[t].size+w.size > maxMemory {
		return sluice.CodeTooMuchMemory.Errorf("Body, variables and headers would take more than %d MiB "+
			"together; set those to null that are not needed any more.", maxMemory>>20)
	}
	return x.take(ctx, x.total.memory+w.memory) // the replaced value is still there
}

// maxMaking is how many bytes one step may make.
const maxMaking = 128 << 20

// spend counts the bytes that a step makes on the way to its output.
func (x *execution) spend(ctx context.Context, bytes int) error {
	if x.making += bytes; x.making > maxMaking {
		return sluice.CodeTooMuchMemory.Errorf(
			"The values of one step would take more than %d MiB together; work on fewer or smaller ones.",
			maxMaking>>20)
	}
	if err := x.environment.Limits.fits(x.making); err != nil {
		return err
	}
	return x.take(ctx, x.total.memory+x.making)
}

// fits refuses values that would take more than three times the memory of all runs. Less than
// that may fit, since it is an estimate from above; the budget is all theirs meanwhile.
func (l *Limits) fits(bytes int) error {
	if l.Shared != nil && bytes > 2 && l.Shared.Fits(int64(bytes)/3) == 0 {
		return sluice.CodeTooMuchMemory.Errorf("This would take about %d MiB, more than a server of this "+
			"size can hold; work on less at a time, or raise --memory-limit.", bytes>>20)
	}
	return nil
}

// take grows the run's share of the memory of all runs to so many bytes. A run waits for that only
// once: whatever it holds meanwhile, others may be waiting for.
func (x *execution) take(ctx context.Context, bytes int) error {
	if x.environment.Limits.Shared == nil || x.shared.Try(int64(bytes)) == nil {
		return nil
	}
	x.scope.Work.Rest()
	if x.waited || x.environment.Limits.Alone || x.shared.Grow(ctx, int64(bytes)) != nil {
		return x.environment.Limits.Refusal()
	}
	x.waited = true
	return nil
}

// Refusal returns the error of somebody who gets no memory. A run that is alone would get none if
// it came again either: what runs within it has the rest.
func (l *Limits) Refusal() error {
	if l.Alone {
		return sluice.CodeTooMuchMemory.Errorf("The run and what runs within it would take more together than a " +
			"server of this size can hold; work on less at a time, or raise --memory-limit.")
	}
	return noMemory()
}

// Calm waits a moment until the server's memory has room for one more run.
func (l *Limits) Calm(ctx context.Context) error {
	if l.Shared != nil && !l.Shared.Calm(ctx) {
		return noMemory()
	}
	return nil
}

// made gives back the memory of what the previous step made on its way.
func (x *execution) made() {
	x.making = 0
	x.shared.Shrink(int64(x.total.memory))
}

// normal turns the output of a command into a value, with its weight.
func normal(out any) (v any, w weight, err error) {
	if page, ok := out.(command.Paged); ok {
		out, _ = page.Page()
	}
	scale := value.Scale{}
	v, err = scale.Plain(out)
	return v, weight{scale.Size, scale.Memory}, err
}

// passedOn reports whether an output is the very body that went in, and needs no check.
func passedOn(body, out any) bool {
	switch body := body.(type) {
	case []any:
		out, ok := out.([]any)
		return ok && len(out) == len(body) && len(out) > 0 && &out[0] == &body[0]
	case map[string]any:
		out, ok := out.(map[string]any)
		return ok && reflect.ValueOf(out).Pointer() == reflect.ValueOf(body).Pointer()
	}
	return false
}

// Encode returns a final body as JSON, unless it is too large.
func Encode(v any) (json.RawMessage, error) {
	data, err := value.AppendJSON(nil, v, maxResult)
	if len(data) > maxResult {
		return nil, sluice.CodeResultTooLarge.Errorf(
			"The final body is larger than %d bytes as JSON; end the pipeline with a smaller one, such as a summary.",
			maxResult)
	}
	return data, err
}

// put checks an output and assigns it to its target.
func (x *execution) put(ctx context.Context, t source.Target, out any) error {
	v, w, err := out, x.held[source.Target{}], error(nil)
	if !passedOn(x.scope.Body, out) {
		v, w, err = normal(out)
	}
	if err == nil && t.Section == source.ToHeaders {
		v, err = headerText(v)
	}
	if err == nil {
		err = x.afford(ctx, t, w)
	}
	if err == nil {
		x.assign(t, v, w)
		x.made()
	}
	return err
}

// headerText returns a value as the text of a header.
func headerText(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil, []any, map[string]any:
		return nil, sluice.CodeHeaderInvalid.Errorf("A header must be text, not %s.", value.Describe(v))
	}
	text, err := value.AppendJSON(nil, v, math.MaxInt)
	return string(text), err
}

// assign assigns a value to its target. It copies the objects of variables and headers,
// since values may refer to them.
func (x *execution) assign(t source.Target, v any, w weight) {
	x.hold(t, w)
	switch t.Section {
	case source.ToVars:
		x.scope.Vars = with(x.scope.Vars, t.Name, v)
	case source.ToHeaders:
		x.scope.Headers = with(x.scope.Headers, t.Name, v)
	default:
		x.scope.Body = v
	}
}

// hold counts the weight of what is in a target from now on.
func (x *execution) hold(t source.Target, w weight) {
	before := x.held[t]
	x.total.size += w.size - before.size
	x.total.memory += w.memory - before.memory
	x.held[t] = w
}

func with(fields map[string]any, name string, v any) map[string]any {
	fields = maps.Clone(fields)
	fields[name] = v
	return fields
}

// unset removes a variable.
func (x *execution) unset(t source.Target) {
	x.hold(t, weight{})
	delete(x.held, t)
	x.scope.Vars = maps.Clone(x.scope.Vars)
	delete(x.scope.Vars, t.Name)
}

// showUser lets expressions see which user the next step runs as.
func (x *execution) showUser() {
	user := x.run.User()
	if x.scope.User != nil && user.Name == x.user.Name && slices.Equal(user.Roles, x.user.Roles) {
		return
	}
	x.user = user
	x.scope.User = map[string]any{"username": user.Name, "roles": value.Texts(user.Roles)}
}

// Limits bound a run as the server's settings say.
type Limits struct {
	RunTime time.Duration // 0: what the program says
	Shared  *limit.Memory // the budget of all runs; nil: no bound
	Alone   bool          // only this run, and what runs within it, takes from Shared

	Computing *limit.Computing // of all runs; nil: no bound
}

// Reserve takes memory from the budget of all runs, until release is called.
func (l *Limits) Reserve(ctx context.Context, bytes int64) (release func(), err error) {
	if l.Shared == nil {
		return func() {}, nil
	}
	if err := l.fits(int(bytes)); err != nil {
		return nil, err
	}
	memory := l.Shared.Hold()
	if memory.Grow(ctx, bytes) != nil {
		memory.Release()
		return nil, l.Refusal()
	}
	return memory.Release, nil
}

// A TooLongError is the error of a run that took longer than this. It becomes an
// *sluice.Error only when it is used, since every run prepares one and few need it.
type TooLongError time.Duration

// Error implements error.
func (l TooLongError) Error() string { return l.error().Error() }

// As makes errors.As find an *sluice.Error.
func (l TooLongError) As(target any) bool {
	e, ok := target.(**sluice.Error)
	if ok {
		*e = l.error()
	}
	return ok
}

func (l TooLongError) error() *sluice.Error {
	return sluice.CodeRunTooLong.Errorf("The run took longer than %s and was stopped.",
		sluice.ShortDuration(time.Duration(l)))
}

// count counts a step, or a round of a loop, before it runs.
func (x *execution) count(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.steps++
	if x.steps > maxSteps {
		return sluice.CodeTooManySteps.Errorf(
			"The run has done %d steps, more are not allowed; is there a loop without an end?",
			maxSteps)
	}
	return nil
}

// over reports whether the run must end with an error, whatever the policies of its steps. One that
// got no memory, or that a run within it gave none, would go on without a value.
func (x *execution) over(ctx context.Context, err error) bool {
	return ctx.Err() != nil || x.steps > maxSteps || sluice.CodeNoRunMemory.Is(err)
}
