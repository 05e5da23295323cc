package manifest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/serve"
)

// leftOut are the parameters that are not for files: names of things, secrets, and those about the
// call itself.
var leftOut = []string{"token", "uuid", verifyToken, "ifMatch", "ifUpdated", "dryRun", "renew", "like"}

// TestFilesHaveEveryParameter: a new parameter of a command that stores a thing
// is one of its files, too, or left out on purpose.
func TestFilesHaveEveryParameter(t *testing.T) {
	t.Parallel()
	for _, r := range resources(nil) {
		if r.isText() {
			continue
		}
		put, ok := serve.Commands().Find(r.Put)
		if !ok {
			t.Fatalf("there is no command %s", r.Put)
		}
		for _, p := range put.Params {
			known := p.Name == r.Key || slices.ContainsFunc(r.fields, func(f field) bool { return f.name == p.Name })
			if !known && !slices.Contains(leftOut, p.Name) {
				t.Errorf("files of a %s can't have %s", r.Name, p.Name)
			}
		}
	}
}

// TestNormalForm: what says the same is written in the same way.
func TestNormalForm(t *testing.T) {
	t.Parallel()
	presets := presets{"github": {"dedupe": "header:x-github-delivery", "maxPayloadLength": 4194304}, "asana": {"dedupe": "off"}, "twilio": {"answer": "value", "answerType": "text/xml"}}
	for name, test := range map[string]struct{ resource, file, want string }{
		"nothing":                  {"webhook", "{}", "# all as by default\n"},
		"an empty file":            {"webhook", "# all as by default\n", "# all as by default\n"},
		"defaults":                 {"webhook", "payloadType: base64\nmaxPayloadLength: 512000\ndisabled: false\nmultipart: files\ndedupe: off\ndedupeWindow: 1440m", "# all as by default\n"},
		"the sender's own id":      {"webhook", "provider: github\ndedupe: header:x-github-delivery", "provider: github\n"},
		"no id, as the sender":     {"webhook", "provider: asana\ndedupe: off", "provider: asana\n"},
		"no id, unlike the sender": {"webhook", "provider: github\ndedupe: off", "provider: github\ndedupe: \"off\"\n"},
		"the sender's length":      {"webhook", "provider: github\nmaxPayloadLength: 4194304", "provider: github\n"},
		"the usual length":         {"webhook", "provider: github\nmaxPayloadLength: 512000", "maxPayloadLength: 512000\nprovider: github\n"},
		"the sender's answer":      {"webhook", "provider: twilio\nanswer: value\nanswerType: text/xml", "provider: twilio\n"},
		"another answer":           {"webhook", "provider: twilio\nanswer: result\nanswerWait: 5000ms", "provider: twilio\nanswer: result\nanswerWait: 5s\n"},
		"the usual answer":         {"webhook", "answer: result\nanswerWait: ''", "# all as by default\n"},
		"a window":                 {"webhook", "dedupeWindow: 120m", "dedupeWindow: 2h\n"},
		"dates and texts":          {"webhook", "schema: {default: 2030-01-31, const: '12', maximum: 1.0}", "schema:\n  const: \"12\"\n  default: \"2030-01-31\"\n  maximum: 1\n"},
		"lists have no order":      {"role", "permissions: [b, a, b]", "permissions:\n  - a\n  - b\n"},
		"grants by default":        {"client", "roles: []\ngrants: [client_credentials]", "# all as by default\n"},
		"emptied lists":            {"client", "grants: []\nroles: []", "# all as by default\n"},
		"emptied methods":          {"webhook", "methods: []", "# all as by default\n"},
		"grants of a public one":   {"client", "public: true\ngrants: [refresh_token, authorization_code]", "public: true\n"},
	} {
		all := resources(nil)
		r := all[slices.IndexFunc(all, func(r *resource) bool { return r.Name == test.resource })]
		r.presets = presets
		read := &thing{resource: r, file: "file.yaml", text: test.file}
		if err := errors.Join(read.decode(), read.check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := (&thing{resource: r, fields: r.normal(read.fields)}).source(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestRefusedFiles: what a file can't have is refused with its place, in words
// that are not Go's.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"maxPayloadLength: many":             "1:19: maxPayloadLength must be a whole number.",
		"maxPayloadLength: 1.5":              "1:19: maxPayloadLength must be a whole number.",
		"disabled: 1":                        "1:11: disabled must be true or false.",
		"\ndescription: [a]":                 "2:14: description must be text.",
		"schema: '{}'":                       "1:9: schema must be an object.",
		"verifyToken: x":                     "1:1: a verify token is a secret, ",
		"signingSecret: plain":               "1:16: a secret is not for files; ",
		"apiSecret: plain":                   "1:12: a secret is not for files; ",
		"signingSecret: secret:a,plain":      "1:16: a secret is not for files; ",
		"description: x\nuuid: x":            `2:1: a webhook has no "uuid" in a file; there are description, disabled, `,
		"eventKey: webhook.x":                `1:1: a webhook has no "eventKey" in a file; `,
		"payloadTyp: raw":                    `1:1: a webhook has no "payloadTyp"; did you mean payloadType?`,
		"- a":                                "1:1: a webhook is written as lines of the form name: value, and this is a list; there can be description, ",
		"no":                                 "1:1: a webhook is written as lines of the form name: value, and this is a single value; ",
		"a: 1\n---\nb: 2":                    "2:1: a second document starts here; a file has one.",
		"{}\ndescription: x":                 "2:1: this is not YAML: did not find expected <document start>.",
		"description: a: b":                  "1:1: this is not YAML: mapping values are not allowed in this context.",
		"schema:\n  a: [1\n  b: 2":           "2:3: this is not YAML: did not find expected ',' or ']'.",
		"description: x\ndescription: y":     "2:1: description stands here twice; leave one out.",
		"schema: {properties: {1: {}}}":      "1:23: a name must be text; put it in quotes.",
		"schema: {maximum: .inf}":            "1:19: .inf is no number; ",
		"schema: *nowhere":                   "1:1: this is not YAML: unknown anchor 'nowhere' referenced.",
		"schema: !!binary '%'\ndisabled: no": "1:",
	} {
		read := &thing{resource: resources(nil)[2], file: "file.yaml", text: file}
		err := read.decode()
		if err == nil {
			err = read.check()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "file.yaml:"+want) || strings.Contains(err.Error(), "interface {}") {
			t.Errorf("%q: %v, want %s", file, err, want)
		}
	}
}

// TestMisplacedFiles: what looks like a thing and would not be looked at is
// refused.
func TestMisplacedFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"webhook/x.yaml":                  "webhook/x.yaml: there is no folder webhook; did you mean webhooks?",
		"webhook/sub/x.json":              "webhook/sub/x.json: there is no folder webhook; did you mean webhooks?",
		"piplines/x.yml":                  "piplines/x.yml: there is no folder piplines; did you mean pipelines?",
		"users/ada.yaml":                  "users/ada.yaml stands in none of the folders roles, clients, webhooks, pipelines; move it to one of them, or out of here.",
		"webhooks/sub/x.yaml":             "webhooks/sub/x.yaml stands in a folder within webhooks, where no file is looked for; move it to webhooks/x.yaml.",
		"webhook.top.yaml":                "webhook.top.yaml stands in none of the folders roles, clients, webhooks, pipelines; move it to the one that it is for.",
		"webhooks/x.YAML":                 "webhooks/x.YAML: write the ending in lower case, .yaml; otherwise the file is not looked at.",
		"webhooks/readme.txt":             "",
		"README.md":                       "",
		"package.json":                    "",
		"tools/package.json":              "",
		".github/workflows/deploy.yaml":   "",
		"webhooks/.draft.yaml":            "",
		"webhooks/.drafts/webhook.x.yaml": "",
		".gitlab-ci.yml":                  "",
	} {
		dir, err := os.OpenRoot(folderWith(t, map[string]string{"webhooks/webhook.x.yaml": "", file: ""}))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := errors.Join(misplaced(dir, resources(nil)), dir.Close()); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
