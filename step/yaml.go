package step

import (
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/yamltext"
)

// maxYAML bounds the bytes of YAML: its parser takes 160 times as much memory.
const maxYAML = 1 << 20

// fromYAML reads one document with the values of JSON: it rejects aliases and tags for
// other types, and times stay text.
func fromYAML(input any) (any, error) {
	text, err := textIn(input, maxYAML, "YAML", "\n:")
	if err != nil {
		return nil, err
	}
	root, second, err := yamltext.One(text)
	switch {
	case err != nil:
		return nil, yamlError(err)
	case second != nil:
		return nil, yamlInvalid(second, "a second document starts here; this takes one")
	case root == nil:
		return nil, nil
	}
	decoded, err := yamlValue(root)
	if err != nil {
		return nil, err
	}
	return decoded, weigh(decoded)
}

// yamlError returns the message of the parser, with its line. Quotations of the text are cut out:
// people read errors who may not see payloads.
func yamlError(err error) error {
	return sluice.CodeYAMLInvalid.Errorf("This is not YAML: %s.",
		quoted.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), ""))
}

var quoted = regexp.MustCompile(`(?s) ?'.*'| ?".*"|` + " ?`.*`")

func yamlInvalid(n *yaml.Node, why string) error {
	return sluice.CodeYAMLInvalid.Errorf("This YAML is not taken: line %d, column %d: %s.", n.Line, n.Column,
		why)
}

func yamlValue(n *yaml.Node) (any, error) {
	switch {
	case n.Kind == yaml.AliasNode:
		return nil, yamlInvalid(n, "aliases are refused; write the value out")
	case n.Kind == yaml.ScalarNode:
		return yamlScalar(n)
	case n.Kind == yaml.SequenceNode && n.ShortTag() == "!!seq":
		return yamlList(n)
	case n.Kind == yaml.MappingNode && n.ShortTag() == "!!map":
		return yamlObject(n)
	}
	return nil, yamlTag(n)
}

func yamlList(n *yaml.Node) (any, error) {
	list := make([]any, len(n.Content))
	for i, item := range n.Content {
		var err error
		if list[i], err = yamlValue(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func yamlObject(n *yaml.Node) (any, error) {
	object := make(map[string]any, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if _, err := yamlScalar(key); key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || err != nil {
			return nil, yamlInvalid(key, "a key must be plain text")
		}
		if _, twice := object[key.Value]; twice {
			return nil, yamlInvalid(key, "this key stands here twice")
		}
		var err error
		if object[key.Value], err = yamlValue(n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func yamlScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		return n.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, yamlInvalid(n, "this is neither true nor false")
		}
		return b, nil
	case "!!int", "!!float":
		return yamlNumber(n)
	}
	return nil, yamlTag(n)
}

func yamlTag(n *yaml.Node) error {
	return yamlInvalid(n, "this tag is refused; only values that JSON has are taken")
}

// yamlNumber reads a number. Digits with a leading zero stay text: they are a postal code
// or the like, rarely an octal number.
func yamlNumber(n *yaml.Node) (any, error) {
	digits := strings.TrimLeft(n.Value, "+-")
	if strings.HasPrefix(digits, "0") && strings.Trim(digits, "0123456789") == "" && n.Value != "0" && n.Value != "-0" {
		return n.Value, nil
	}
	number, err := yamltext.Number(n)
	switch {
	case errors.Is(err, yamltext.ErrNotFinite):
		return nil, yamlInvalid(n, "only finite numbers are taken")
	case err != nil:
		return nil, yamlInvalid(n, "this is not a number")
	}
	return number, nil
}
