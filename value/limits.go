package value

import "fmt"

// The limits of every value.
const (
	MaxDepth  = 1_000     // levels of lists and objects
	MaxSize   = 8 << 20   // bytes of one string, and roughly of the JSON of one value
	MaxItems  = 100_000   // items of one list or object
	MaxValues = 1_000_000 // values that one text is decoded to
)

// Error says why something is not a value, or exceeds a limit.
type Error struct {
	Code    string // stable word for programs
	Message string // for people, without the value, which may be secret
	Size    bool   // a limit on size is exceeded
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// ErrForeign means that something is not a JSON value.
var ErrForeign = &Error{
	Code:    "not-json",
	Message: "This has no form in JSON: it has a number that is not finite, or is no plain value.",
}

// TooDeep is the error of a value that is nested more than MaxDepth deep.
func TooDeep() error {
	return tooMuch("value-too-deep", "Lists and objects are nested more than %d deep.", MaxDepth)
}

// TooLarge is the error of a value or text that has more bytes than a limit.
func TooLarge(limit int) error {
	const mebibyte = 1 << 20
	if limit%mebibyte == 0 {
		return tooMuch("value-too-large", "A value is larger than %d MiB; work on a smaller part of it.", limit/mebibyte)
	}
	return tooMuch("value-too-large", "A value is larger than %d bytes; work on a smaller part of it.", limit)
}

// TooManyItems is the error of a list or object that has more items than a limit.
func TooManyItems(limit int) error {
	return tooMuch("too-many-items", "A list or object has more than %d items; work on a smaller part of it.", limit)
}

// TooManyValues is the error of a text that decodes to more than MaxValues.
func TooManyValues() error {
	return tooMuch("too-many-items", "There are more than %d values in this text; work on a smaller part of it.", MaxValues)
}

func tooMuch(code, format string, limit int) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, limit), Size: true}
}
