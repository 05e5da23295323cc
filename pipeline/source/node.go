package source

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"unicode/utf8"

	"sluice/value"
)

// A node is one value of a source, with its position. It is the same for YAML and JSON.
type node struct {
	kind         kind
	data         any     // of a scalar: nil, bool, int, float64, json.Number or string
	text         string  // of a scalar, as it reads
	style        style   // of a scalar, as it is written
	keys         []*node // of an object: scalars, all different
	items        []*node // of a list, or the values of an object
	line, column int     // counted from 1
}

type kind int

const (
	scalar kind = iota
	list
	object
)

// A style is how a scalar is written. Finding a position inside the scalar needs it.
type style int

const (
	plain style = iota
	singleQuoted
	doubleQuoted
	block
)

// entries returns the keys and values of an object.
func (n *node) entries() iter.Seq2[*node, *node] {
	return func(yield func(key, item *node) bool) {
		for i, key := range n.keys {
			if !yield(key, n.items[i]) {
				return
			}
		}
	}
}

// get returns the value of a key, nil if there is none.
func (n *node) get(name string) *node {
	for key, item := range n.entries() {
		if key.text == name {
			return item
		}
	}
	return nil
}

func (n *node) isNull() bool { return n.kind == scalar && n.data == nil }

// string returns the data of a node if it is text.
func (n *node) string() (string, bool) {
	s, ok := n.data.(string)
	return s, ok && n.kind == scalar
}

// value returns the node as plain data. Expressions in it stay text.
func (n *node) value() any {
	switch n.kind {
	case list:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.value()
		}
		return items
	case object:
		fields := make(map[string]any, len(n.keys))
		for key, item := range n.entries() {
			fields[key.text] = item.value()
		}
		return fields
	}
	return n.data
}

// describe names the type of a node, for messages about wrong types.
func (n *node) describe() string {
	if n.isNull() {
		return "nothing"
	}
	return value.Describe(n.value())
}

// readJSON reads a source that is JSON. The YAML reader would fail on tabs, and on
// escaped surrogate pairs.
func (c *checker) readJSON(source string) *node {
	text := strings.Trim(source, " \t\r\n")
	r := jsonReader{checker: c, source: source, line: 1, column: 1}
	return r.node(strings.Index(source, text), []byte(text), 1)
}

// jsonMistake notes why a source is not JSON.
func (c *checker) jsonMistake() {
	err := json.Unmarshal([]byte(c.source), new(json.RawMessage))
	at := &node{line: 1, column: 1}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at.line, at.column = value.Position(string(c.source), int(syntax.Offset)-1)
	}
	c.problemf(at, "This is not JSON: %v.", err)
}

// A jsonReader reads valid JSON and tracks positions.
type jsonReader struct {
	*checker
	source       string
	at           int // the byte that line and column belong to
	line, column int
}

// node reads the value that begins at a byte.
func (r *jsonReader) node(at int, text []byte, depth int) *node {
	n := r.nodeAt(at)
	switch text[0] {
	case '[':
		n.kind = list
	case '{':
		n.kind = object
	default:
		n.data, _ = value.Decode(text)
		n.text = string(text)
		if plain, ok := n.data.(string); ok {
			n.text, n.style = plain, doubleQuoted
		}
		return n
	}
	if !r.enter(n, depth) {
		return nil
	}
	seen := map[string]bool{}
	for part := range value.Parts(text) {
		if part.Name != nil {
			r.addKey(n, r.node(at+part.Start, part.Name, depth), seen)
		}
		item := r.node(at+part.At, part.Value, depth+1)
		if item == nil {
			return nil
		}
		n.items = append(n.items, item)
	}
	return n
}

// nodeAt returns a node at a byte, which is not before that of the last one.
func (r *jsonReader) nodeAt(at int) *node {
	passed := r.source[r.at:at]
	r.at = at
	if lines := strings.Count(passed, "\n"); lines > 0 {
		r.line += lines
		r.column = 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	r.column += utf8.RuneCountInString(passed)
	return &node{line: r.line, column: r.column}
}
