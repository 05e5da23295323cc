package pipeline

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/value"
)

// readYAML reads a source that is YAML, without what makes YAML a language of
// its own: aliases, merges and tags.
func (c *checker) readYAML(source string) *node {
	dec := yaml.NewDecoder(strings.NewReader(source))
	var document, second yaml.Node
	err := dec.Decode(&document)
	if errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0 {
		c.problemf(&node{line: 1, column: 1}, "The source is empty; it needs at least the section pipeline.")
		return nil
	}
	if err == nil {
		if err = dec.Decode(&second); err == nil {
			c.problemf(&node{line: second.Line, column: second.Column}, "A second document starts here; a source has one.")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) && err != nil {
		c.yamlMistake(err)
		return nil
	}
	return c.fromYAML(document.Content[0], 1)
}

var (
	yamlLine    = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)
	yamlComment = regexp.MustCompile(`(?m)^[^'"#\n]*\s(#\{)`) // an expression without quotes
	yamlUnknown = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// yamlMistake notes an error of the YAML reader.
func (c *checker) yamlMistake(err error) {
	if looksLikeJSON.MatchString(c.text.source) {
		c.jsonMistake()
		return
	}
	found := yamlLine.FindStringSubmatch(err.Error())
	message := strings.TrimSuffix(found[2], ".")
	if anchor := yamlUnknown.FindStringSubmatch(message); anchor != nil {
		at := &node{}
		at.line, at.column = c.text.place(max(0, strings.Index(c.text.source, "*"+anchor[1])))
		c.refuseAlias(at)
		return
	}
	reported, _ := strconv.Atoi(found[1])
	at := &node{line: c.brokenLine(min(max(1, reported), len(c.text.starts))), column: 1}
	if written := c.text.line(at.line); written != "" {
		at.column = 1 + len(written) - len(strings.TrimLeft(written, " "))
	}
	if comment := yamlComment.FindStringSubmatchIndex(c.text.source[:c.text.offset(at.line+1, 1)]); comment != nil {
		at.line, at.column = c.text.place(comment[2])
		message = "here a comment starts; put texts with expressions in quotes"
	}
	c.problemf(at, "This is not YAML: %s.", inPlainWords(message))
}

// inPlainWords says what a message of the reader means to people.
func inPlainWords(message string) string {
	switch message {
	case "did not find expected key":
		return "this line does not fit those above it; check how far it is indented"
	case "did not find expected '-' indicator":
		return "this line does not fit the list above it; check how far it is indented"
	case "mapping values are not allowed in this context":
		return "a colon stands where no value can begin; check the indentation, or put the text in quotes"
	case "found character that cannot start any token":
		return "a text can't begin with this character; put it in quotes, and indent with spaces instead of tabs"
	case "block sequence entries are not allowed in this context":
		return "a list can't begin here; put it on a line of its own"
	}
	return message
}

// brokenLine returns the line at which the source ceases to be YAML: the first with
// which all that comes before is not, and does not become so a few lines later. The
// reader itself reports where the block begins that it is in, which is returned for
// sources that are too large to be read again and again.
func (c *checker) brokenLine(reported int) int {
	const (
		maxRead = 8 << 20 // bytes in all
		further = 40      // lines that texts and lists in brackets may go on for
	)
	read := 0
	isYAML := func(lines int) bool {
		part := c.text.source[:c.text.offset(lines+1, 1)]
		read += len(part)
		return yaml.Unmarshal([]byte(part), new(yaml.Node)) == nil
	}
	good, bad := 0, len(c.text.starts)
	for read < maxRead {
		if good+1 < bad {
			if middle := (good + bad) / 2; isYAML(middle) {
				good = middle
			} else {
				bad = middle
			}
			continue
		}
		later := bad + 1
		for later <= min(bad+further, len(c.text.starts)) && !isYAML(later) {
			later++
		}
		if later > min(bad+further, len(c.text.starts)) {
			return bad
		}
		good, bad = later, len(c.text.starts)
	}
	return reported
}

func (c *checker) refuseAlias(at *node) {
	c.problemf(at, "Anchors (&) and aliases (*) are not taken; write the value out, or put it in quotes if it is text.")
}

// fromYAML converts a YAML node; it returns nil if something in it is refused.
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
		c.problemf(n, "YAML takes %s for a comment; put the whole text in quotes.", quote(y.LineComment))
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
		data, err := numberFromYAML(y)
		if err != nil {
			c.problemf(n, "%s is no number as JSON has them; put it in quotes if it is text.", quote(y.Value))
			return nil
		}
		n.data = data
	default: // dates as well: JSON has none
		n.data = y.Value
	}
	return n
}

var leadingZero = regexp.MustCompile(`^[+-]?0[0-9_]`)

// numberFromYAML reads a number as JSON would where it can, so that it stays
// exact. One that starts with a zero may be octal or, more likely, a telephone
// number.
func numberFromYAML(y *yaml.Node) (any, error) {
	if number, err := value.Decode(y.Value); err == nil {
		return number, nil
	}
	if leadingZero.MatchString(y.Value) {
		return nil, errors.New("ambiguous")
	}
	var number any
	if err := y.Decode(&number); err != nil {
		return nil, err
	}
	switch n := number.(type) {
	case int:
		return n, nil
	case uint64:
		return json.Number(strconv.FormatUint(n, 10)), nil
	case float64:
		if !math.IsInf(n, 0) && !math.IsNaN(n) {
			return n, nil
		}
	}
	return nil, errors.New("no number of JSON")
}
