package manifest

import (
	"slices"
	"testing"

	"sluice/serve"
)

// leftOut are the parameters that are not for files: what names a thing, secrets,
// and what is about the call itself.
var leftOut = []string{"uuid", verifyToken, "ifUpdated", "dryRun", "renew"}

// TestFilesHaveEveryParameter: a new parameter of a command that stores a thing
// is one of its files, too, or left out on purpose.
func TestFilesHaveEveryParameter(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		if k.isText() {
			continue
		}
		put, ok := serve.Commands().Find(k.put)
		if !ok {
			t.Fatalf("there is no command %s", k.put)
		}
		for _, p := range put.Params {
			known := p.Name == k.key || slices.ContainsFunc(k.fields, func(f field) bool { return f.name == p.Name })
			if !known && !slices.Contains(leftOut, p.Name) {
				t.Errorf("files of a %s can't have %s", k.name, p.Name)
			}
		}
	}
}

// TestNormalForm: what says the same is written in the same way.
func TestNormalForm(t *testing.T) {
	t.Parallel()
	presets := map[string]string{"github": "header:x-github-delivery", "asana": ""}
	for name, test := range map[string]struct{ kind, file, want string }{
		"nothing":                  {"webhook", "{}", "# all as by default\n"},
		"an empty file":            {"webhook", "# all as by default\n", "# all as by default\n"},
		"defaults":                 {"webhook", "payloadType: base64\nmaxPayloadLength: 512000\ndisabled: false\nmultipart: files\ndedupe: off\ndedupeWindow: 1440m", "# all as by default\n"},
		"the sender's own id":      {"webhook", "provider: github\ndedupe: header:x-github-delivery", "provider: github\n"},
		"no id, as the sender":     {"webhook", "provider: asana\ndedupe: off", "provider: asana\n"},
		"no id, unlike the sender": {"webhook", "provider: github\ndedupe: off", "provider: github\ndedupe: \"off\"\n"},
		"a window":                 {"webhook", "dedupeWindow: 120m", "dedupeWindow: 2h\n"},
		"dates and texts":          {"webhook", "schema: {default: 2030-01-31, const: '12', maximum: 1.0}", "schema:\n  const: \"12\"\n  default: \"2030-01-31\"\n  maximum: 1\n"},
		"lists have no order":      {"role", "permissions: [b, a, b]", "permissions:\n  - a\n  - b\n"},
		"grants by default":        {"client", "roles: []\ngrants: [client_credentials]", "# all as by default\n"},
		"grants of a public one":   {"client", "public: true\ngrants: [refresh_token, authorization_code]", "public: true\n"},
	} {
		k := kinds()[slices.IndexFunc(kinds(), func(k *kind) bool { return k.name == test.kind })]
		var given map[string]any
		if err := decodeYAML([]byte(test.file), &given); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := k.check("file.yaml", given); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := (&thing{kind: k, fields: k.normal(given, presets)}).source(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestRefusedFiles: what a file can't have.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	webhook := kinds()[2]
	for _, file := range []string{
		"maxPayloadLength: many", "maxPayloadLength: 1.5", "disabled: 1", "description: [a]", "schema: '{}'",
		"verifyToken: x", "signingSecret: plain", "signingSecret: secret:a,plain", "uuid: x", "eventKey: webhook.x", "- a", "a: 1\n---\nb: 2", "{}\ndescription: x",
	} {
		var given map[string]any
		err := decodeYAML([]byte(file), &given)
		if err == nil {
			err = webhook.check("file.yaml", given)
		}
		if err == nil {
			t.Errorf("%q is taken", file)
		}
	}
}
