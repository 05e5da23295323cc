package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"
)

// A Part is a member of a JSON object or an item of a list, as it is written.
type Part struct {
	Start int    // where it begins
	Name  []byte // of a member, in quotes; nil for an item
	At    int    // where its value begins
	Value []byte // nil: the text is malformed here
}

// Is reports whether it is a member of that name.
func (p Part) Is(name string) bool { return p.Name != nil && p.Text() == name }

// Text returns the name of a member.
func (p Part) Text() (name string) {
	if bytes.IndexByte(p.Name, '\\') < 0 {
		return string(p.Name[1 : len(p.Name)-1])
	}
	_ = json.Unmarshal(p.Name, &name) // a malformed one is none
	return name
}

// Parts visits the parts of the object or list that a JSON text begins with, in order. It reads
// and checks no more than it must; where the text is malformed, the last part has no value.
func Parts(text []byte) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		at := SkipSpace(text, 0)
		if at == len(text) || text[at] != '{' && text[at] != '[' {
			return
		}
		closing := text[at] + 2
		for at = SkipSpace(text, at+1); at == len(text) || text[at] != closing; {
			p := partAt(text, at, closing == '}')
			if !yield(p) || p.Value == nil {
				return
			}
			switch at = SkipSpace(text, p.At+len(p.Value)); {
			case at < len(text) && text[at] == ',':
				at = SkipSpace(text, at+1)
			case at == len(text) || text[at] != closing:
				yield(Part{Start: at})
				return
			}
		}
	}
}

func partAt(text []byte, at int, member bool) Part {
	p := Part{Start: at, At: at}
	if member {
		end := SkipValue(text, at)
		if end < 0 || text[at] != '"' {
			return p
		}
		p.Name = text[at:end]
		if p.At = SkipSpace(text, end); p.At == len(text) || text[p.At] != ':' {
			return p
		}
		p.At = SkipSpace(text, p.At+1)
	}
	if end := SkipValue(text, p.At); end >= 0 {
		p.Value = text[p.At:end]
	}
	return p
}

// ErrNoObject is the error of a text that is not one JSON object.
var ErrNoObject = errors.New("it is no JSON object")

// Members shows the members of a JSON object in order, as they are written, also those that have
// the same name.
func Members(object []byte, see func(name string, content json.RawMessage) error) error {
	if !json.Valid(object) || object[SkipSpace(object, 0)] != '{' {
		return ErrNoObject
	}
	for p := range Parts(object) {
		if err := see(p.Text(), p.Value); err != nil {
			return err
		}
	}
	return nil
}

// Without returns a JSON object without the members of some names, and without the spaces between
// members. Other texts stay as they are.
func Without(object []byte, names ...string) []byte {
	if at := SkipSpace(object, 0); at == len(object) || object[at] != '{' {
		return object
	}
	kept := []byte{'{'}
	for p := range Parts(object) {
		switch {
		case p.Value == nil:
			return object
		case slices.Contains(names, p.Text()):
			continue
		case len(kept) > 1:
			kept = append(kept, ',')
		}
		kept = append(kept, object[p.Start:p.At+len(p.Value)]...)
	}
	return append(kept, '}')
}
