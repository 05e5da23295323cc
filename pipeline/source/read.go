package source

import (
	"encoding/json"
	"regexp"
	"unicode/utf8"

	"sluice/value"
)

// Bounds of a source, which bound everything else in it.
const (
	MaxSource = 256 << 10 // bytes
	maxSteps  = 1000      // steps written down
)

// read returns the one document of a source, nil if it can't be read.
func (c *checker) read(source string) *node {
	start := &node{line: 1, column: 1}
	switch {
	case len(source) > MaxSource:
		c.problemf(start, "The source has %d bytes, at most %d are allowed; split it into pipelines that run each other with pipeline.run.", len(source), MaxSource)
		return nil
	case !utf8.ValidString(source):
		c.problemf(start, "The source must be text in UTF-8.")
		return nil
	case json.Valid([]byte(source)):
		return c.readJSON(source)
	}
	return c.readYAML(source)
}

// looksLikeJSON reports whether a broken source was meant to be JSON.
var looksLikeJSON = regexp.MustCompile(`^\s*\{\s*["}]`)

// enter checks that a list or object is not deeper than values may be.
func (c *checker) enter(at *node, depth int) bool {
	if depth > value.MaxDepth {
		c.problemf(at, "This is nested more than %d levels deep.", value.MaxDepth)
	}
	return depth <= value.MaxDepth
}

// addKey checks that a key is new to its object.
func (c *checker) addKey(n, key *node, seen map[string]bool) {
	if seen[key.text] {
		c.problemf(key, "The key %s stands here twice; leave one out.", Quote(key.text))
	}
	seen[key.text] = true
	n.keys = append(n.keys, key)
}
