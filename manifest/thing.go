package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/client"
	"sluice/spelling"
	"sluice/value"
	"sluice/webhook"
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
func (r *resource) normal(given map[string]any) map[string]any {
	fields := make(map[string]any)
	for _, f := range r.fields {
		value, unset := f.normal(given, r.presets)
		if value != nil && !reflect.DeepEqual(value, unset) {
			fields[f.name] = value
		}
	}
	return fields
}

// normal returns a field in a form that can be compared, and the value that stands for none.
func (f field) normal(given map[string]any, presets presets) (value, unset any) {
	value, unset = given[f.name], f.unset
	switch v := value.(type) {
	case nil:
		return nil, nil
	case []any:
		if len(v) == 0 {
			return nil, nil
		}
		if f.unset != nil {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			value = slices.Compact(v)
		}
	case string:
		if d, err := time.ParseDuration(v); err == nil && f.setting.IsPeriod() { // otherwise the server refuses it
			value = sluice.ShortDuration(d)
		}
	}
	if f.follows != nil {
		unset = f.follows(given)
	}
	if f.setting.OfSender {
		own := presets.own(f.setting, given)
		if unset = own; value == "" || value == "off" && own == nil {
			value = own
		}
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

// A resource is a sort of thing that files describe, in a folder of its name in the
// plural.
type resource struct {
	sluice.Resource

	fields  []field // none means that its files are text, not fields
	server  *client.Client
	presets presets // of webhooks
}

// A field of a file is also a parameter of the command that stores the thing.
type field struct {
	name    string
	unset   any              // the value if the file has none
	emptied any              // the argument that removes the stored one
	setting *webhook.Setting // of a webhook; otherwise it says nothing

	follows func(given map[string]any) any // gives the value if the file has none, where other fields decide
}

// fieldsOf returns fields by their names and the values that stand for none.
func fieldsOf(pairs ...any) (fields []field) {
	for pair := range slices.Chunk(pairs, 2) {
		fields = append(fields, field{
			name: pair[0].(string), unset: pair[1], emptied: pair[1], setting: new(webhook.Setting),
		})
	}
	return fields
}

// resources are in the order in which they are stored: clients have roles, and
// pipelines may need all others. Deleting goes in the opposite order.
func resources(server *client.Client) []*resource {
	hook := &resource{Resource: sluice.ResourceNamed("webhook")}
	for _, s := range webhook.FileSettings() {
		hook.fields = append(hook.fields, field{name: s.Name, unset: s.Unset(), emptied: s.Emptied(), setting: s})
	}
	program := &resource{
		Resource: sluice.ResourceNamed("client"),
		fields:   fieldsOf("roles", []any{}, "grants", []any{}, "public", false, "redirectUris", []any{}),
	}
	program.fields[1].follows = grants
	all := []*resource{
		{Resource: sluice.ResourceNamed("role"), fields: fieldsOf("permissions", []any{}, "scope", []any{})},
		program,
		hook,
		{Resource: sluice.ResourceNamed("pipeline")},
	}
	for _, r := range all {
		r.server = server
	}
	return all
}

// Fields of webhooks with secrets.
const (
	signingSecret = "signingSecret"
	verifyToken   = "verifyToken"
)

func (r *resource) folder() string { return r.Name + "s" }

// isText reports whether a file is the source of a thing, and has no fields.
func (r *resource) isText() bool { return r.fields == nil }

func (r *resource) fieldNames() []string {
	names := make([]string, len(r.fields))
	for i, f := range r.fields {
		names[i] = f.name
	}
	return names
}

// grants are the grants of a client whose file names none.
func grants(client map[string]any) any {
	return value.Texts(sluice.DefaultGrants(client["public"] == true))
}

// check refuses fields that a file can't have.
func (t *thing) check() error {
	for _, f := range t.resource.fields {
		if value, has := t.fields[f.name]; has && !f.takes(value) {
			_, node := t.field(f.name)
			return mistake("%s: %s must be %s.", t.at(node), f.name, f.wants())
		}
	}
	names := t.resource.fieldNames()
	for _, name := range slices.Sorted(maps.Keys(t.fields)) {
		key, _ := t.field(name)
		switch {
		case slices.Contains(names, name):
		case name == verifyToken:
			return mistake("%s: a verify token is a secret, which is not for files; sluice webhook edit %s "+
				"--verify-token sets it.", t.at(key), t.name)
		case name == "eventKey":
			return mistake("%s: a %s has no %q in a file; the name of the file is its key.", t.at(key),
				t.resource.Name, name)
		case spelling.Nearest(name, names) != "":
			return mistake("%s: a %s has no %q; did you mean %s?", t.at(key), t.resource.Name, name,
				spelling.Nearest(name, names))
		default:
			return mistake("%s: a %s has no %q in a file; there are %s.", t.at(key), t.resource.Name, name,
				strings.Join(names, ", "))
		}
	}
	return t.checkSecrets()
}

// checkSecrets refuses a secret where its name should be.
func (t *thing) checkSecrets() error {
	for _, f := range t.resource.fields {
		text, _ := t.fields[f.name].(string)
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); f.setting.Form.Secret && text != "" &&
				!strings.HasPrefix(name, sluice.StoredSecret) {
				_, node := t.field(f.name)
				return mistake("%s: a secret is not for files; store it with sluice secret put NAME and write %s: "+
					"secret:NAME.", t.at(node), f.name)
			}
		}
	}
	return nil
}

func (f field) takes(value any) bool {
	switch f.unset.(type) {
	case nil: // the server checks the rest
		_, ok := value.(map[string]any)
		return ok
	case []any:
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(item any) bool { _, text := item.(string); return !text })
	}
	return reflect.TypeOf(value) == reflect.TypeOf(f.unset)
}

func (f field) wants() string {
	switch f.unset.(type) {
	case bool:
		return "true or false"
	case int:
		return "a whole number"
	case []any:
		return "a list of names"
	case nil:
		return "an object"
	}
	return "text"
}

// mistake is the error for a file with a mistake.
func mistake(format string, args ...any) *sluice.Error {
	return sluice.CodeFileInvalid.Errorf(format, args...)
}
