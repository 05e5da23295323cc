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
	r := jsonReader{checker: c, dec: json.NewDecoder(strings.NewReader(source)), source: source, line: 1, column: 1}
	r.dec.UseNumber()
	first, delim := r.next()
	return r.value(first, delim, 1)
}

// jsonMistake notes why a source is not JSON.
func (c *checker) jsonMistake() {
	err := json.Unmarshal([]byte(c.source.source), new(json.RawMessage))
	at := &node{line: 1, column: 1}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at.line, at.column = c.source.position(max(0, int(syntax.Offset)-1))
	}
	c.problemf(at, "This is not JSON: %v.", err)
}

// A jsonReader reads the tokens of valid JSON and tracks their positions.
type jsonReader struct {
	*checker

	dec          *json.Decoder
	source       string
	at           int // the byte that line and column belong to
	line, column int
}

// next returns the next token: a scalar, or an empty node with the delimiter that starts
// or ends a list or object.
func (r *jsonReader) next() (*node, json.Delim) {
	before := int(r.dec.InputOffset())
	token, err := r.dec.Token()
	if err != nil {
		return nil, 0 // the end: the JSON is valid
	}
	start := before + strings.IndexFunc(r.source[before:],
		func(c rune) bool { return !strings.ContainsRune(" \t\r\n,:", c) })
	r.advance(start)
	n := &node{line: r.line, column: r.column}
	switch t := token.(type) {
	case json.Delim:
		return n, t
	case json.Number:
		n.data, _ = value.Decode(t)
		n.text = string(t)
	case string:
		n.data, n.text, n.style = t, t, doubleQuoted
	default:
		n.data, n.text = t, r.source[start:r.dec.InputOffset()]
	}
	return n, 0
}

// advance moves line and column forward to a byte.
func (r *jsonReader) advance(to int) {
	passed := r.source[r.at:to]
	r.at = to
	if lines := strings.Count(passed, "\n"); lines > 0 {
		r.line += lines
		r.column = 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	r.column += utf8.RuneCountInString(passed)
}

func (r *jsonReader) value(n *node, delim json.Delim, depth int) *node {
	if delim != 0 && !r.enter(n, depth) {
		return nil
	}
	switch delim {
	case '[':
		n.kind = list
	case '{':
		n.kind = object
	default:
		return n
	}
	seen := map[string]bool{}
	for r.dec.More() {
		if n.kind == object {
			key, _ := r.next()
			r.addKey(n, key, seen)
		}
		item, open := r.next()
		if item = r.value(item, open, depth+1); item == nil {
			return nil
		}
		n.items = append(n.items, item)
	}
	_, _ = r.next()
	return n
}
