package value

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"math/bits"
)

// A Scale weighs values before anything is done with them. It stops at the limit, since a
// value may hold another one many times.
type Scale struct {
	MaxSize  int // bytes in all; 0 means MaxSize
	MaxItems int // items of one list or object; 0 means MaxItems

	Size        int // bytes of their JSON, about
	Memory      int // bytes in memory, about
	Items       int // items of all lists and objects
	Comparisons int // for sorting the keys of all objects, about
}

// Add weighs another value. It fails with ErrForeign on anything that is no value.
func (s *Scale) Add(v any) error {
	s.MaxSize, s.MaxItems = cmp.Or(s.MaxSize, MaxSize), cmp.Or(s.MaxItems, MaxItems)
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
		if err := s.enter(len(v), depth); err != nil {
			return err
		}
		s.Comparisons += len(v) * bits.Len(uint(len(v)))
		s.Memory += objectMemory(len(v))
		for name, field := range v {
			s.Size += len(name) + len(`"":`)
			s.Memory += len(name)
			if err := s.add(field, depth+1); err != nil {
				return err
			}
		}
	default:
		return ErrForeign
	}
	if s.Size > s.MaxSize {
		return TooLarge(s.MaxSize)
	}
	return nil
}

// enter weighs a list or object without its contents.
func (s *Scale) enter(count, depth int) error {
	if depth > MaxDepth {
		return TooDeep()
	}
	if count > s.MaxItems {
		return TooManyItems(s.MaxItems)
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
	if limit := cmp.Or(s.MaxSize, MaxSize); len(data) > limit {
		return nil, TooLarge(limit)
	}
	if v, err = Decode(data); err != nil {
		return nil, err
	}
	return v, s.Add(v)
}
