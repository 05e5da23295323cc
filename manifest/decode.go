package manifest

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/yamltext"
)

// decode reads the fields of a thing and their positions from its file. Dates are
// text, as in JSON.
func (t *thing) decode() error {
	root, second, err := yamltext.One(t.text)
	switch {
	case err != nil:
		return t.syntaxMistake(err)
	case second != nil:
		return mistake("%s: a second document starts here; a file has one.", t.at(second))
	case root == nil || root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil // all fields are unset
	case root.Kind != yaml.MappingNode:
		return mistake("%s: a %s is written as lines of the form name: value, and this is %s; there can be %s.",
			t.at(root), t.resource.Name, shapeOf(root), strings.Join(t.resource.fieldNames(), ", "))
	}
	if err := t.likeJSON(root); err != nil {
		return err
	}
	t.root = root
	if err := root.Decode(&t.fields); err != nil {
		return t.syntaxMistake(err)
	}
	return nil
}

func shapeOf(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a single value"
}

// likeJSON refuses what JSON can't express, and turns dates into text.
func (t *thing) likeJSON(n *yaml.Node) error {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	if n.Tag == "!!float" && strings.ContainsAny(n.Value, "nN") {
		return mistake("%s: %s is no number; put it in quotes if it is text.", t.at(n), n.Value)
	}
	seen := make(map[string]bool)
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			switch {
			case inner.ShortTag() != "!!str" && inner.ShortTag() != "!!merge":
				return mistake("%s: a name must be text; put it in quotes.", t.at(inner))
			case seen[inner.Value]:
				return mistake("%s: %s stands here twice; leave one out.", t.at(inner), inner.Value)
			}
			seen[inner.Value] = true
		}
		if err := t.likeJSON(inner); err != nil {
			return err
		}
	}
	return nil
}

// syntaxMistake returns an error of the YAML reader with its position.
func (t *thing) syntaxMistake(err error) error {
	line, column, message := yamltext.Mistake(t.text, err)
	return mistake("%s:%d:%d: this is not YAML: %s.", t.file, line, column, message)
}

// at returns the position of a node in the file of a thing: FILE:LINE:COLUMN.
func (t *thing) at(n *yaml.Node) string {
	if n == nil {
		return t.file
	}
	return fmt.Sprintf("%s:%d:%d", t.file, n.Line, n.Column)
}

// field returns the nodes of a field, nil if the file does not have it.
func (t *thing) field(name string) (key, value *yaml.Node) {
	if t.root == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(t.root.Content); i += 2 {
		if t.root.Content[i].Value == name {
			return t.root.Content[i], t.root.Content[i+1]
		}
	}
	return nil, nil
}

// position returns where in the file a server's message refers to: the item of a list
// that it names, otherwise the field of the parameter.
func (t *thing) position(parameter, message string) string {
	for _, name := range t.resource.fieldNames() {
		_, value := t.field(name)
		if value == nil || value.Kind != yaml.SequenceNode || parameter != "" && parameter != name {
			continue
		}
		for _, item := range value.Content {
			if strings.Contains(message, strconv.Quote(item.Value)) || strings.Contains(message, " "+item.Value+" ") {
				return t.at(item)
			}
		}
	}
	_, value := t.field(parameter)
	return t.at(value)
}
