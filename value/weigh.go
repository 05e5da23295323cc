package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// A Scale weighs values before anything is done with them. It stops at the limit, since a
// value may hold another one many times.
type Scale struct {
	Size        int // bytes of their JSON, about
	Memory      int // bytes in memory, about
	Items       int // items of all lists and objects
	Comparisons int // for sorting the keys of all objects, about
}

// Add weighs another value. It fails with ErrForeign on anything that is no value.
func (s *Scale) Add(v any) error {
	return s.add(v, 0)
}

func (s *Scale) add(v any, depth int) error {
	const number, header, listHeader = 8, 16, 24
	switch v := v.(type) {
	case nil, bool:
		s.Size += len("null")
	case int:
		s.Size += number
		s.Memory += number
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ErrForeign
		}
		s.Size += number
		s.Memory += number
	case string:
		s.Size += len(v) + len(`""`)
		s.Memory += header + len(v)
	case json.Number:
		s.Size += len(v)
		s.Memory += header + len(v)
	case []any:
		if err := s.enter(len(v), depth); err != nil {
			return err
		}
		s.Memory += listHeader + len(v)*header
		for _, item := range v {
			if err := s.add(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := s.addObject(v, depth); err != nil {
			return err
		}
	default:
		return ErrForeign
	}
	if s.Size > MaxSize {
		return TooLarge(MaxSize)
	}
	return nil
}

func (s *Scale) addObject(object map[string]any, depth int) error {
	if err := s.enter(len(object), depth); err != nil {
		return err
	}
	s.Comparisons += len(object) * bits.Len(uint(len(object)))
	s.Memory += objectMemory(len(object))
	for name, field := range object {
		s.Size += len(name) + len(`"":`)
		s.Memory += len(name)
		if err := s.add(field, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// enter weighs a list or object without its contents.
func (s *Scale) enter(count, depth int) error {
	if depth > MaxDepth {
		return TooDeep()
	}
	if count > MaxItems {
		return TooManyItems()
	}
	s.Size += len("[]") + count
	s.Items += count
	return nil
}

// objectMemory returns the memory of an object without its contents. Maps keep members in
// groups of 8, about three quarters of them in use.
func objectMemory(count int) int {
	const header, group, inGroup = 48, 264, 6
	return header + (count+inGroup-1)/inGroup*group
}

// Plain turns anything that encoding/json can encode into a value, and weighs it. Most
// things are values already.
func (s *Scale) Plain(v any) (any, error) {
	before := *s
	if err := s.Add(v); !errors.Is(err, ErrForeign) {
		return v, err
	}
	*s = before
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSize {
		return nil, TooLarge(MaxSize)
	}
	if v, err = Decode(data); err != nil {
		return nil, err
	}
	return v, s.Add(v)
}

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

// TooLarge is the error of a value or text that has more bytes than a limit, which is some MiB.
func TooLarge(limit int) error {
	return tooMuch("value-too-large", "A value is larger than %d MiB; work on a smaller part of it.", limit>>20)
}

// TooManyItems is the error of a list or object that has more than MaxItems.
func TooManyItems() error {
	return tooMuch("too-many-items", "A list or object has more than %d items; work on a smaller part of it.", MaxItems)
}

// TooManyValues is the error of a text that decodes to more than MaxValues.
func TooManyValues() error {
	return tooMuch("too-many-items", "There are more than %d values in this text; work on a smaller part of it.",
		MaxValues)
}

func tooMuch(code, format string, limit int) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, limit), Size: true}
}
