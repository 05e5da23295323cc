package manifest

import (
	"maps"
	"slices"
	"strings"

	"sluice"
	"sluice/spelling"
)

// A kind is a kind of thing that files describe. Its folder is its name in the
// plural.
type kind struct {
	sluice.Resource

	fields []field
}

// A field is one that a file may have, and a parameter of the command that
// stores the thing. A kind without fields has text as its files.
type field struct {
	name  string
	unset any // the value where a file has none; it removes what is stored
}

// kinds are in the order in which they are stored: clients have roles, and
// pipelines may need all others. They are deleted in the opposite order.
func kinds() []*kind {
	return []*kind{
		{Resource: sluice.ResourceNamed("role"), fields: []field{
			{"permissions", []any{}},
		}},
		{Resource: sluice.ResourceNamed("client"), fields: []field{
			{"roles", []any{}}, {"grants", grants(false)}, {"public", false}, {"redirectUris", []any{}},
		}},
		{Resource: sluice.ResourceNamed("webhook"), fields: []field{
			{"description", ""}, {"disabled", false}, {"payloadType", string(sluice.Base64)}, {"maxPayloadLength", sluice.DefaultPayloadLength},
			{"multipart", string(sluice.MultipartFiles)}, {"provider", ""}, {"signature", nil}, {signingSecret, ""},
			{"dedupe", ""}, {"dedupeWindow", sluice.ShortDuration(sluice.DefaultDedupeWindow)}, {"schema", nil},
		}},
		{Resource: sluice.ResourceNamed("pipeline")},
	}
}

// Fields of webhooks with secrets.
const (
	signingSecret = "signingSecret"
	verifyToken   = "verifyToken"
)

func (k *kind) folder() string { return k.Name + "s" }

// isText reports whether the files of the kind are the things themselves, not
// descriptions of them.
func (k *kind) isText() bool { return k.fields == nil }

// fieldNames returns the names of all fields.
func (k *kind) fieldNames() []string {
	names := make([]string, len(k.fields))
	for i, f := range k.fields {
		names[i] = f.name
	}
	return names
}

// grants are those of a client whose file names none.
func grants(public bool) []any {
	defaults := sluice.DefaultGrants(public)
	all := make([]any, len(defaults))
	for i, grant := range defaults {
		all[i] = grant
	}
	return all
}

// check refuses what the file of a thing can't have.
func (t *thing) check() error {
	for _, f := range t.kind.fields {
		if value, has := t.fields[f.name]; has && !f.takes(value) {
			_, node := t.field(f.name)
			return mistake("%s: %s must be %s.", t.at(node), f.name, f.wants())
		}
	}
	names := t.kind.fieldNames()
	for _, name := range slices.Sorted(maps.Keys(t.fields)) {
		key, _ := t.field(name)
		switch {
		case slices.Contains(names, name):
		case name == verifyToken:
			return mistake("%s: a verify token is a secret, which is not for files; sluice webhook edit %s --verify-token sets it.", t.at(key), t.name)
		case spelling.Nearest(name, names) != "":
			return mistake("%s: a %s has no %q; did you mean %s?", t.at(key), t.kind.Name, name, spelling.Nearest(name, names))
		default:
			return mistake("%s: a %s has no %q in a file; there are %s.", t.at(key), t.kind.Name, name, strings.Join(names, ", "))
		}
	}
	return t.checkSecrets()
}

// checkSecrets refuses a secret in place of the name of one.
func (t *thing) checkSecrets() error {
	text, _ := t.fields[signingSecret].(string)
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if !strings.HasPrefix(strings.TrimSpace(name), sluice.StoredSecret) {
			_, node := t.field(signingSecret)
			return mistake("%s: a signing secret is not for files; store it with sluice secret put NAME and write signingSecret: secret:NAME.", t.at(node))
		}
	}
	return nil
}

func (f field) takes(value any) bool {
	switch f.unset.(type) {
	case string:
		_, ok := value.(string)
		return ok
	case bool:
		_, ok := value.(bool)
		return ok
	case int:
		_, ok := value.(int)
		return ok
	case []any:
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(item any) bool { _, text := item.(string); return !text })
	}
	_, ok := value.(map[string]any)
	return ok // the server knows more
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

// mistake is the error for files that make no sense.
func mistake(format string, args ...any) *sluice.Error {
	return sluice.Errorf(sluice.CodeFileInvalid, format, args...)
}
