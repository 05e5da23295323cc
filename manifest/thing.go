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

// A thing is a webhook, pipeline, role or client, as a file or the server has it.
type thing struct {
	resource *resource
	name     string
	file     string // its file; "" if none was read

	text   string         // the content of the file
	fields map[string]any // without those that are unset; nil for text
	root   *yaml.Node     // of the file; nil if it is empty

	token   string          // of a webhook
	open    map[string]bool // tokens of a webhook
	tag     string          // of the version of a webhook or pipeline
	secrets bool            // the server has secrets of it that are not in the file
}

// document returns a thing for programs.
func (t *thing) document() any {
	switch {
	case t == nil:
		return nil
	case t.resource.isText():
		return t.text
	}
	return t.fields
}

// source returns a thing as it stands in a file.
func (t *thing) source() string {
	if t == nil {
		return ""
	}
	if t.resource.isText() {
		return t.text
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range t.resource.fields {
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
		return "# all as by default\n" // people can add lines to it, unlike to {}
	}
	var text bytes.Buffer
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		panic(err)
	}
	return text.String()
}

// normal returns the fields of a thing in a form that can be compared, without those
// that have their default value.
func (r *resource) normal(given map[string]any, presets presets) map[string]any {
	fields := make(map[string]any)
	for _, f := range r.fields {
		value, unset := f.normal(given, presets)
		if value != nil && !reflect.DeepEqual(value, unset) {
			fields[f.name] = value
		}
	}
	return fields
}

// normal returns a field in a form that can be compared, and the value that stands for none.
func (f field) normal(given map[string]any, presets presets) (value, unset any) {
	value, unset = given[f.name], f.unset
	if value == nil {
		return nil, nil
	}
	switch list, isList := value.([]any); {
	case isList && f.unset != nil:
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		value = slices.Compact(list)
	case f.name == "answer":
		if unset = presets.answer(given["provider"]); value == "" {
			value = unset
		}
	case f.name == "answerType" && (given["answer"] == nil || given["answer"] == "" || given["answer"] == presets.answer(given["provider"])):
		unset = presets[fmt.Sprint(given["provider"])].AnswerType
	case f.name == "dedupeWindow" || f.name == "answerWait":
		if d, err := time.ParseDuration(fmt.Sprint(value)); err == nil { // otherwise the server refuses it
			value = sluice.ShortDuration(d)
		}
	case f.name == "dedupe":
		unset = presets[fmt.Sprint(given["provider"])].Dedupe
		if value == "" || unset == "" && value == "off" {
			value = unset
		}
	}
	if f.name == "grants" && given["public"] == true {
		unset = grants(true)
	}
	return value, unset
}

// plain replaces the numbers in a value by int and float64, which files have.
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
