package expression

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"

	"sluice"
	"sluice/value"
)

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

// frame is one run of a template: its scope and what it may still spend.
type frame struct {
	scope     *Scope
	steps     int
	memory    int
	told      int // bytes reported to Scope.Memory
	variables []any
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
func (f *frame) spend(steps int) error {
	f.steps -= steps
	if f.steps < 0 {
		return fail("it takes too many steps; work on fewer or smaller values")
	}
	return nil
}

// read pays for reading that many bytes.
func (f *frame) read(bytes int) error {
	if bytes < bytesPerStep {
		return nil
	}
	return f.spend(bytes / bytesPerStep)
}

// makeText pays for a new text of that length before it is made.
func (f *frame) makeText(length int) error {
	if length > value.MaxSize {
		return fail("a text would become longer than %d MiB", value.MaxSize>>20)
	}
	const header = 32
	if err := f.allocate(header + length); err != nil {
		return err
	}
	return f.read(length)
}

// makeItems pays for a new list of that many items before it is made.
func (f *frame) makeItems(count int) error {
	const header, bytesPerItem = 32, 32
	return f.makeContainer(count, header+count*bytesPerItem)
}

// makeObject pays for a new object of that many members before it is made.
func (f *frame) makeObject(count int) error {
	const header, bytesPerMember = 320, 64
	return f.makeContainer(count, header+count*bytesPerMember)
}

func (f *frame) makeContainer(count, bytes int) error {
	if count > value.MaxItems {
		return fail("a list or object would have more than %d items", value.MaxItems)
	}
	if err := f.allocate(bytes); err != nil {
		return err
	}
	return f.spend(count)
}

func (f *frame) allocate(bytes int) error {
	f.memory -= bytes
	if f.memory < 0 {
		return fail("it makes more than %d MiB of values; work on fewer or smaller ones", MaxMemory>>20)
	}
	if MaxMemory-f.memory-f.told > toldTogether {
		return f.tell()
	}
	return nil
}

// toldTogether is how many bytes are made before they are reported to Scope.Memory.
const toldTogether = 1 << 20

// tell reports the bytes made since the last report to Scope.Memory.
func (f *frame) tell() error {
	more := MaxMemory - f.memory - f.told
	f.told += more
	return f.foresee(more)
}

// foresee reports bytes to Scope.Memory before they are made.
func (f *frame) foresee(bytes int) error {
	if bytes == 0 || f.scope.Memory == nil {
		return nil
	}
	if err := f.scope.Memory(bytes); err != nil {
		return &callError{"memory", err}
	}
	return nil
}

// failure tells the author why a run failed.
type failure string

func (e failure) Error() string { return string(e) }

func fail(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

const (
	longestSnippet = 60
	longestMessage = 300
)

// SyntaxError is a mistake in a text, found before it runs.
type SyntaxError struct {
	Offset  int    // where in the text, in bytes
	Message string // one line for the author
}

// Error returns the message with its offset.
func (e *SyntaxError) Error() string { return "at " + strconv.Itoa(e.Offset) + ": " + e.Message }

// parseError explains an error of the library.
func parseError(source string, err error) error {
	found, ok := errors.AsType[*file.Error](err)
	if !ok {
		return &SyntaxError{Message: "The expression can't be read."}
	}
	message := oneLine(strings.TrimSuffix(found.Message, "."), longestMessage)
	offset := byteOffset(source, found.Location)
	switch {
	case strings.TrimSpace(source) == "":
		message = "the expression is empty"
	case message == "unexpected token EOF":
		message, offset = "the expression ends too early", len(source)
	case unexpected.MatchString(message):
		message = misplaced(unexpected.FindStringSubmatch(message)[1])
	case strings.HasSuffix(message, "value out of range"):
		message = "the number is too large"
	case strings.HasPrefix(message, "compilation failed: "):
		message = "the expression has more than " + strconv.Itoa(MaxNodes) + " parts; do it in several steps"
	}
	return &SyntaxError{Offset: offset, Message: strings.ToUpper(message[:1]) + message[1:] + "."}
}

// unexpected matches the library's message about a misplaced token.
var unexpected = regexp.MustCompile(`^unexpected token \w+\((".*")\)`)

// misplaced returns the message about a misplaced token, with a hint.
func misplaced(token string) string {
	message := token + " is not expected here"
	switch token {
	case `"="`:
		return message + "; to compare, write =="
	case `"#"`, `"."`:
		return message + "; # and .name stand for the item within filter, map and the like"
	}
	return message
}

// failed returns the error of a run.
func (p *program) failed(err error) *sluice.Error {
	why := strings.TrimSuffix(err.Error(), ".")
	if _, ok := errors.AsType[*value.Error](err); ok {
		why = strings.ToLower(why[:1]) + why[1:]
	}
	kind, cause := sluice.Invalid, error(nil)
	if called, ok := errors.AsType[*callError](err); ok {
		cause = called.err
		if failure, ok := errors.AsType[*sluice.Error](cause); ok && passes(failure.Kind) {
			kind = failure.Kind
		}
	}
	return sluice.Errorf(sluice.CodeExpressionFailed, "The expression %s failed: %s.", oneLine(p.source, longestSnippet), why).OfKind(kind).Because(cause)
}

// passes reports whether a failure of a function is no fault of the expression: it may be
// temporary, or the run lacks a permission.
func passes(kind sluice.Kind) bool {
	switch kind {
	case sluice.Internal, sluice.Timeout, sluice.Throttled, sluice.Unavailable, sluice.Forbidden, sluice.Unauthenticated:
		return true
	}
	return false
}

// oneLine escapes control characters in a text and cuts it to a number of characters.
func oneLine(text string, longest int) string {
	text = strings.TrimSpace(text)
	if cut := part(text, 0, longest+1); len(cut) < len(text) || utf8.RuneCountInString(cut) > longest {
		text = part(text, 0, longest-1) + "…"
	}
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
