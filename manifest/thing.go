package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice"
)

// A thing is one of a kind, as a file has it or as the server does.
type thing struct {
	kind *kind
	name string
	file string // that describes it; "" if none is read

	text   string         // of a kind that is text
	fields map[string]any // of the others: those that differ from what is unset
	root   *yaml.Node     // of the file, nil if it says nothing

	token   string // by which the server finds a webhook
	tag     string // of the version of a webhook or pipeline
	secrets bool   // it has secrets that are not in the file
}

// document returns a thing as programs read it.
func (t *thing) document() any {
	switch {
	case t == nil:
		return nil
	case t.kind.isText():
		return t.text
	}
	return t.fields
}

// source returns a thing as it stands in a file.
func (t *thing) source() string {
	if t == nil {
		return ""
	}
	if t.kind.isText() {
		return t.text
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range t.kind.fields {
		value, has := t.fields[f.name]
		if !has {
			continue
		}
		var node yaml.Node
		if err := node.Encode(value); err != nil {
			panic(err) // decoded values can be encoded
		}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.name}, &node)
	}
	if len(root.Content) == 0 {
		return "# all as by default\n" // lines can be added, unlike to {}
	}
	var text bytes.Buffer
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		panic(err)
	}
	return text.String()
}

// normal returns the fields of a thing in the one form in which they are compared,
// without those that say no more than a missing one.
func (k *kind) normal(given map[string]any, presets map[string]string) map[string]any {
	fields := make(map[string]any)
	for _, f := range k.fields {
		value, has := given[f.name]
		if !has || value == nil {
			continue
		}
		unset := f.unset
		switch list, isList := value.([]any); {
		case isList && f.unset != nil:
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			value = slices.Compact(list)
		case f.name == "dedupeWindow":
			if d, err := time.ParseDuration(fmt.Sprint(value)); err == nil { // otherwise the server says what is wrong
				value = sluice.ShortDuration(d)
			}
		case f.name == "dedupe":
			unset = presets[fmt.Sprint(given["provider"])]
			if value == "" || unset == "" && value == "off" {
				value = unset
			}
		}
		if f.name == "grants" && given["public"] == true {
			unset = grants(true)
		}
		if !reflect.DeepEqual(value, unset) {
			fields[f.name] = value
		}
	}
	return fields
}

// decodeJSON decodes a document of the server as decode does a file.
func decodeJSON(document []byte, into *map[string]any) error {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	plain(*into)
	return nil
}

// plain replaces the numbers in a value by such as files have.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			v[name] = plain(item)
		}
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return int(whole)
		}
		if number, err := v.Float64(); err == nil {
			return number
		}
	}
	return value
}
