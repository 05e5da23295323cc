package expression

import "sluice/value"

// The limits of one expression and of one run. Package value limits the values.
const (
	MaxSource  = 4 << 10   // bytes of the code of one expression
	MaxNodes   = 2_000     // parts of one expression, counted each time they are compiled
	maxPattern = 1_000     // parts of all patterns of one expression, repetitions written out
	MaxNested  = 200       // levels of parts
	MaxMemory  = 64 << 20  // bytes that one run makes in all
	maxSteps   = 5_000_000 // steps of one run; a step is an item, a part or 32 bytes of text
)

// Calls of functions from other packages have a flat price, since their work is unknown
// here, and a price for the texts that they read.
const stepsPerCall = 1_000

const bytesPerStep = 32

// frame is one run of a template: its scope and what it may still spend. A payment that it
// can't make ends the run.
type frame struct {
	scope     *Scope
	steps     int
	told      int // steps that were left when Scope.Work heard of them
	pause     int // steps that are left when it is to hear again
	memory    int
	reported  int // bytes that Scope.Memory knows of
	variables []any
	stack     []any  // the operands of what is being computed
	buffer    []byte // for JSON
	cursor
}

// cursor is the position of a predicate in its list.
type cursor struct {
	item  any
	index int
	acc   any
}

// spend pays for steps.
func (f *frame) spend(steps int) {
	if f.steps -= steps; f.steps < f.pause {
		f.tell()
	}
}

// tell lets Scope.Work know of the steps since it last heard of them.
func (f *frame) tell() {
	more := f.told - f.steps
	f.told = f.steps
	if f.steps < 0 {
		fail("it takes too many steps; work on fewer or smaller values")
	}
	f.mayGoOn(f.scope.Work.Spend(more))
	f.pause = max(0, f.steps-f.scope.Work.Left())
}

// mayGoOn ends the run if there is an error of Scope.Work.
func (f *frame) mayGoOn(err error) {
	if err != nil {
		check(&callError{"computing", err})
	}
}

// rest lets Scope.Work know that what follows may wait for something else.
func (f *frame) rest() {
	_ = f.scope.Work.Spend(f.told - f.steps) // fails only if there is nothing to go on with
	f.scope.Work.Rest()
}

// read pays for reading that many bytes.
func (f *frame) read(bytes int) { f.spend(bytes / bytesPerStep) }

// makeText pays for a new text of that length before it is made.
func (f *frame) makeText(length int) {
	if length > value.MaxSize {
		fail("a text would become longer than %d MiB", value.MaxSize>>20)
	}
	const header = 32
	f.allocate(header + length)
	f.read(length)
}

// makeItems pays for a new list of that many items before it is made.
func (f *frame) makeItems(count int) {
	const header, bytesPerItem = 32, 32
	f.makeContainer(count, header+count*bytesPerItem)
}

// makeObject pays for a new object of that many members before it is made.
func (f *frame) makeObject(count int) {
	const header, bytesPerMember = 320, 64
	f.makeContainer(count, header+count*bytesPerMember)
}

func (f *frame) makeContainer(count, bytes int) {
	if count > value.MaxItems {
		fail("a list or object would have more than %d items", value.MaxItems)
	}
	f.allocate(bytes)
	f.spend(count)
}

// reportedTogether is how many bytes are made before Scope.Memory hears of them.
const reportedTogether = 1 << 20

func (f *frame) allocate(bytes int) {
	f.memory -= bytes
	if f.memory < 0 {
		fail("it makes more than %d MiB of values; work on fewer or smaller ones", MaxMemory>>20)
	}
	if MaxMemory-f.memory-f.reported > reportedTogether {
		f.report()
	}
}

// report lets Scope.Memory know of the bytes made since the last report.
func (f *frame) report() {
	more := MaxMemory - f.memory - f.reported
	f.reported += more
	f.foresee(more)
}

// foresee lets Scope.Memory know of bytes before they are made.
func (f *frame) foresee(bytes int) {
	if bytes == 0 || f.scope.Memory == nil {
		return
	}
	if err := f.scope.Memory(bytes); err != nil {
		check(&callError{"memory", err})
	}
}

// checkDepth ends the run if a value is nested too deep.
func checkDepth(depth int) {
	if depth > value.MaxDepth {
		check(value.TooDeep())
	}
}
