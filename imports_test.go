package sluice_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms says which other rooms each room may import: imports point downward
// only. A new package must be entered here, which is the moment to ask where it
// belongs.
var rooms = map[string][]string{
	".":          {},
	"command":    {"."},
	"durable":    {},
	"config":     {},
	"expression": {"."},
	"body":       {"."},
	"throttle":   {},
	"lane":       {},
	"event":      {".", "command"},
	"webhook":    {".", "command", "body", "throttle"},
	"iam":        {".", "command", "throttle"},
	"jetstream":  {".", "durable", "jetstream/correlation", "jetstream/queue", "jetstream/record", "jetstream/stream", "journal"},
	"journal":    {".", "durable", "jetstream/correlation", "jetstream/stream"},

	"jetstream/queue":       {".", "jetstream/correlation", "jetstream/record", "jetstream/stream"},
	"jetstream/record":      {"durable", "jetstream/stream"},
	"jetstream/stream":      {".", "durable"},
	"jetstream/correlation": {"."},
	"jetstream/natstest":    {},

	"metrics":      {"."},
	"pipeline":     {".", "command", "expression"},
	"step":         {".", "command"},
	"telemetry":    {"."},
	"trace":        {".", "command"},
	"oidc":         {"."},
	"oidc/dex":     {},
	"oidc/dextest": {},
	"api":          {".", "command", "body", "throttle"},
	"portal":       {".", "command"},
	"serve":        {".", "api", "body", "command", "config", "durable", "event", "expression", "iam", "jetstream", "lane", "metrics", "oidc", "pipeline", "portal", "step", "telemetry", "trace", "webhook"},
	"client":       {"."},
	"cmd/sluice":   {".", "client", "config", "serve"},
	"bench":        {".", "config", "jetstream", "serve"},
	"torture":      {".", "config", "iam", "jetstream", "serve"},
}

func TestImportsPointDownward(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		allowed, known := rooms[room]
		if !known {
			t.Errorf("%s: package %s is in no row of the table", path, room)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			name, ours := strings.CutPrefix(imported, "sluice/")
			if imported == "sluice" {
				name, ours = ".", true
			}
			if ours && !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s, which %s may not", path, name, room)
			}
			if room == "." && strings.Contains(imported, ".") {
				t.Errorf("%s imports %s: the root package takes the standard library only", path, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
