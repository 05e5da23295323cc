package source

import (
	"cmp"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/value"
	"sluice/yamltext"
)

// readYAML reads a source that is YAML. It rejects aliases, merges and tags.
func (c *checker) readYAML(source string) *node {
	root, second, err := yamltext.One(source)
	switch {
	case err != nil:
		c.yamlMistake(source, err)
	case second != nil:
		c.problemf(&node{line: second.Line, column: second.Column}, "A second document starts here; a source has one.")
	case root == nil:
		c.problemf(&node{line: 1, column: 1}, "The source is empty; it needs at least the section pipeline.")
	default:
		return c.fromYAML(root, 1)
	}
	return nil
}

var (
	yamlComment = regexp.MustCompile(`(?m)^[^'"#\n]*\s(#\{)`) // an expression without quotes
	yamlUnknown = regexp.MustCompile(`^yaml: unknown anchor '(.*)' referenced`)
)

// yamlMistake notes an error of the YAML reader.
func (c *checker) yamlMistake(source string, err error) {
	if looksLikeJSON.MatchString(source) {
		c.jsonMistake()
		return
	}
	at := &node{}
	if anchor := yamlUnknown.FindStringSubmatch(err.Error()); anchor != nil {
		at.line, at.column = value.Position(source, strings.Index(source, "*"+anchor[1]))
		c.refuseAlias(at)
		return
	}
	var message string
	at.line, at.column, message = yamltext.Mistake(source, err)
	if comment := yamlComment.FindStringSubmatchIndex(source[:c.source.offset(at.line+1, 1)]); comment != nil {
		at.line, at.column = value.Position(source, comment[2])
		message = "here a comment starts; put texts with expressions in quotes"
	}
	c.problemf(at, "This is not YAML: %s.", cmp.Or(inPlainWords[message], message))
}

// inPlainWords explains messages of the YAML reader.
var inPlainWords = map[string]string{
	"did not find expected key": "this line does not fit those above it; check how far " +
		"it is indented",
	"did not find expected '-' indicator": "this line does not fit the list above it; check how " +
		"far it is indented",
	"mapping values are not allowed in this context": "a colon stands where no value can begin; check the " +
		"indentation, or put the text in quotes",
	"found character that cannot start any token": "a text can't begin with this character; put it in " +
		"quotes, and indent with spaces instead of tabs",
	"found unexpected end of stream":                         "a quote or bracket before it is never closed",
	"block sequence entries are not allowed in this context": "a list can't begin here; put it on a line of its own",
}

func (c *checker) refuseAlias(at *node) {
	c.problemf(at, "Anchors (&) and aliases (*) are not taken; write the value out, or put it in quotes if it is text.")
}

// fromYAML converts a YAML node. It returns nil if something in it is rejected.
func (c *checker) fromYAML(y *yaml.Node, depth int) *node {
	n := &node{line: y.Line, column: y.Column}
	switch {
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		c.refuseAlias(n)
		return nil
	case y.Style&yaml.TaggedStyle != 0:
		c.problemf(n, "Tags (!) are not taken; put the value in quotes if it is text.")
		return nil
	case y.Kind != yaml.ScalarNode && !c.enter(n, depth):
		return nil
	case strings.HasPrefix(y.LineComment, "#{"):
		c.problemf(n, "YAML takes %s for a comment; put the whole text in quotes.", sluice.Quote(y.LineComment))
	}
	switch y.Kind {
	case yaml.SequenceNode:
		return c.listFromYAML(n, y, depth)
	case yaml.MappingNode:
		return c.objectFromYAML(n, y, depth)
	}
	return c.scalarFromYAML(n, y)
}

func (c *checker) listFromYAML(n *node, y *yaml.Node, depth int) *node {
	n.kind = list
	for _, item := range y.Content {
		taken := c.fromYAML(item, depth+1)
		if taken == nil {
			return nil
		}
		n.items = append(n.items, taken)
	}
	return n
}

func (c *checker) objectFromYAML(n *node, y *yaml.Node, depth int) *node {
	n.kind = object
	seen := make(map[string]bool, len(y.Content)/2)
	for i := 0; i < len(y.Content); i += 2 {
		key, item := c.fromYAML(y.Content[i], depth+1), c.fromYAML(y.Content[i+1], depth+1)
		switch {
		case key == nil || item == nil:
			return nil
		case y.Content[i].Tag == "!!merge":
			c.problemf(key, "Merge keys (<<) are not taken; write the values out.")
			return nil
		case key.kind != scalar || key.data == nil:
			c.problemf(key, "A key must be text, not %s; put it in quotes.", key.describe())
			return nil
		}
		c.addKey(n, key, seen)
		n.items = append(n.items, item)
	}
	return n
}

func (c *checker) scalarFromYAML(n *node, y *yaml.Node) *node {
	n.text = y.Value
	switch {
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.style = singleQuoted
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.style = doubleQuoted
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		n.style = block
	}
	switch y.ShortTag() {
	case "!!null":
		n.text = ""
	case "!!bool":
		n.data = strings.EqualFold(y.Value, "true")
	case "!!int", "!!float":
		// One that starts with a zero may be octal or, more likely, a telephone number.
		data, err := yamltext.Number(y)
		if err != nil || leadingZero.MatchString(y.Value) {
			c.problemf(n, "%s is no number as JSON has them; put it in quotes if it is text.", sluice.Quote(y.Value))
			return nil
		}
		n.data = data
	default: // dates as well: JSON has none
		n.data = y.Value
	}
	return n
}

var leadingZero = regexp.MustCompile(`^[+-]?0[0-9_]`)
