package source

import (
	"iter"

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
