package manifest

import (
	"maps"
	"slices"
	"strings"

	"sluice"
	"sluice/spelling"
)

// A resource is a sort of thing that files describe, in a folder of its name in the
// plural.
type resource struct {
	sluice.Resource

	fields []field // none means that its files are text, not fields
}

// A field of a file is also a parameter of the command that stores the thing.
type field struct {
	name  string
	unset any // the value if the file has none; it removes the stored one
}

// resources are in the order in which they are stored: clients have roles, and
// pipelines may need all others. Deleting goes in the opposite order.
func resources() []*resource {
	return []*resource{
		{Resource: sluice.ResourceNamed("role"), fields: []field{
			{"permissions", []any{}}, {"scope", []any{}},
		}},
		{Resource: sluice.ResourceNamed("client"), fields: []field{
			{"roles", []any{}}, {"grants", grants(false)}, {"public", false}, {"redirectUris", []any{}},
		}},
		{Resource: sluice.ResourceNamed("webhook"), fields: []field{
			{"description", ""}, {"disabled", false}, {"payloadType", string(sluice.Base64)}, {"maxPayloadLength", sluice.DefaultPayloadLength},
			{"multipart", string(sluice.MultipartFiles)}, {"provider", ""}, {"signature", nil}, {signingSecret, ""},
			{"dedupe", ""}, {"dedupeWindow", sluice.ShortDuration(sluice.DefaultDedupeWindow)}, {"schema", nil}, {"expectEvery", ""}, {"apiUrl", ""}, {"apiSecret", ""}, {"missedEvery", ""}, {"redact", []any{}}, {"keep", ""},
			{"methods", []any{"GET", "POST"}}, {"answer", ""}, {"answerType", ""}, {"answerWait", ""}, {"allow", []any{}}, {"clientCertificate", ""}, {"clientName", ""},
		}},
		{Resource: sluice.ResourceNamed("pipeline")},
	}
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
func grants(public bool) []any {
	defaults := sluice.DefaultGrants(public)
	all := make([]any, len(defaults))
	for i, grant := range defaults {
		all[i] = grant
	}
	return all
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
			return mistake("%s: a verify token is a secret, which is not for files; sluice webhook edit %s --verify-token sets it.", t.at(key), t.name)
		case spelling.Nearest(name, names) != "":
			return mistake("%s: a %s has no %q; did you mean %s?", t.at(key), t.resource.Name, name, spelling.Nearest(name, names))
		default:
			return mistake("%s: a %s has no %q in a file; there are %s.", t.at(key), t.resource.Name, name, strings.Join(names, ", "))
		}
	}
	return t.checkSecrets()
}

// checkSecrets refuses a secret where its name should be.
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
	return ok // the server checks the rest
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
	return sluice.Errorf(sluice.CodeFileInvalid, format, args...)
}
