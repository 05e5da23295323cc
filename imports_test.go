package sluice_test

import (
	"bytes"
	"cmp"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms says which of our packages each package may import: imports point
// downward only. A new package must be entered here, which is the moment to ask
// where it belongs.
var rooms = map[string][]string{
	"value":        {},
	".":            {"value"},
	"durable":      {},
	"backup":       {".", "seal", "value"},
	"command":      {".", "spelling", "value"},
	"config":       {".", "spelling", "value", "yamltext"},
	"expression":   {".", "limit", "spelling", "value"},
	"problem":      {"."},
	"limit":        {".", "stretch"},
	"spelling":     {},
	"yamltext":     {"value"},
	"wording":      {},
	"difference":   {},
	"seal":         {"."},
	"stretch":      {},
	"wait":         {},
	"lane":         {"stretch"},
	"outward":      {".", "limit"},
	"sender":       {".", "outward", "value"},
	"event":        {".", "command", "value"},
	"webhook/form": {".", "value"},
	"webhook":      {".", "command", "missed", "sender", "spelling", "value", "webhook/form", "webhook/trust", "wording"},
	"iam":          {".", "command", "limit", "spelling", "stretch"},
	"jetstream":    {".", "backup", "durable", "jetstream/correlation", "jetstream/damage", "jetstream/deadletter", "jetstream/delivery", "jetstream/journal", "jetstream/quarantine", "jetstream/queue", "jetstream/record", "jetstream/snapshot", "jetstream/spool", "jetstream/stream", "seal", "stretch", "value", "wait"},

	"jetstream/delivery":    {".", "jetstream/correlation", "jetstream/stream", "stretch", "value", "wait"},
	"jetstream/deadletter":  {".", "jetstream/stream", "value"},
	"jetstream/journal":     {".", "durable", "jetstream/correlation", "jetstream/stream", "limit", "stretch", "value", "wait"},
	"jetstream/queue":       {".", "durable", "jetstream/correlation", "jetstream/deadletter", "jetstream/record", "jetstream/stream", "limit", "problem", "seal", "value", "wait"},
	"jetstream/record":      {".", "durable", "jetstream/stream", "seal", "stretch", "value", "wait"},
	"jetstream/quarantine":  {".", "jetstream/stream", "seal", "value"},
	"jetstream/snapshot":    {".", "backup", "jetstream/delivery", "jetstream/stream", "stretch", "value", "wait"},
	"jetstream/spool":       {".", "jetstream/correlation", "jetstream/delivery", "jetstream/stream", "stretch", "value", "wait"},
	"jetstream/stream":      {".", "durable", "seal", "stretch", "value", "wait"},
	"jetstream/correlation": {".", "jetstream/stream"},
	"jetstream/damage":      {"durable", "value"},
	"jetstream/natstest":    {".", "durable", "seal", "stretch", "wait"},

	"webhook/trust":   {".", "limit", "sender", "spelling", "stretch", "value"},
	"webhook/receive": {".", "command", "limit", "problem", "sender", "value", "webhook/form", "webhook/trust"},

	"pipeline/cron":         {},
	"pipeline/source":       {".", "command", "expression", "pipeline/cron", "spelling", "value", "yamltext"},
	"pipeline/run":          {".", "command", "expression", "limit", "pipeline/source", "problem", "value"},
	"pipeline/rehearse":     {".", "command", "pipeline/run", "pipeline/source", "problem", "value"},
	"pipeline/pipelinetest": {".", "command", "expression", "wait"},

	"alert":             {".", "command", "value", "wait", "wording"},
	"closed":            {".", "command", "wait"},
	"missed":            {".", "command", "outward", "sender", "value", "wait"},
	"quarantine":        {".", "command", "limit", "stretch"},
	"metrics":           {".", "wait"},
	"pipeline":          {".", "command", "expression", "limit", "pipeline/cron", "pipeline/rehearse", "pipeline/run", "pipeline/source", "problem", "spelling", "value", "wait"},
	"work":              {".", "command", "limit", "value"},
	"step":              {".", "command", "limit", "outward", "sender", "spelling", "value", "wait", "yamltext"},
	"step/postgrestest": {},
	"telemetry":         {"."},
	"trace":             {".", "command", "value"},
	"oidc":              {".", "limit", "outward", "problem", "value"},
	"oidc/oidctest":     {},

	"live":                  {".", "limit", "problem", "stretch", "value"},
	"api":                   {".", "command", "limit", "live", "problem", "value"},
	"portal/page":           {".", "command", "limit", "portal/chart", "problem", "value", "wording"},
	"portal/chart":          {".", "wording"},
	"portal/calls":          {".", "command", "live", "portal/chart", "portal/page", "value", "wording"},
	"portal/webhooks":       {".", "command", "missed", "portal/calls", "portal/chart", "portal/page", "problem"},
	"portal/pipelines":      {".", "command", "difference", "portal/calls", "portal/chart", "portal/page", "problem", "value", "wording"},
	"portal/administration": {".", "command", "portal/page"},
	"portal/signin":         {".", "portal/administration", "portal/page", "problem"},
	"portal":                {".", "command", "portal/administration", "portal/calls", "portal/chart", "portal/page", "portal/pipelines", "portal/signin", "portal/webhooks"},
	"serve":                 {".", "alert", "api", "backup", "closed", "command", "config", "durable", "event", "expression", "iam", "jetstream", "jetstream/journal", "lane", "limit", "metrics", "missed", "oidc", "outward", "pipeline", "pipeline/run", "portal", "portal/page", "quarantine", "seal", "sender", "step", "stretch", "telemetry", "trace", "value", "wait", "webhook", "webhook/receive", "webhook/trust", "wording", "work"},
	"client":                {".", "durable", "outward", "problem", "spelling", "value", "wait"},
	"manifest":              {".", "client", "durable", "limit", "spelling", "value", "webhook", "yamltext"},
	"cmd/sluice/view":       {".", "difference", "wording"},
	"cmd/sluice/exit":       {"."},
	"cmd/sluice/terminal":   {".", "client", "cmd/sluice/exit", "cmd/sluice/view", "command", "config", "spelling", "stretch", "value"},
	"cmd/sluice":            {".", "backup", "client", "cmd/sluice/exit", "cmd/sluice/terminal", "cmd/sluice/view", "command", "config", "durable", "manifest", "missed", "outward", "serve", "spelling", "value", "wait", "wording"},
	"bench":                 {".", "backup", "config", "durable", "jetstream", "seal", "serve", "step/postgrestest"},
	"torture":               {".", "client", "config", "iam", "jetstream", "manifest", "seal", "serve", "step/postgrestest"},
}

// maxTokens bounds the product, without its tests, what only serves them, and the programs that
// measure and break it. Tokens, since formatting can't change how many there are. What goes
// beyond has to be paid for elsewhere, or is the moment to ask whether it is worth that much.
const (
	maxTokens = 565_018
	maxFile   = 350 // lines
)

// TestTheProductStaysSmall holds the budget of tokens, and the length of each file.
func TestTheProductStaysSmall(t *testing.T) {
	all := 0
	for path, content := range productFiles(t) {
		if lines := bytes.Count(content, []byte("\n")); lines > maxFile {
			t.Errorf("%s has %d lines, more than %d", path, lines, maxFile)
		}
		if !strings.HasSuffix(filepath.Dir(path), "test") {
			all += tokens(content)
		}
	}
	if all > maxTokens {
		t.Errorf("the product has %d tokens, more than %d", all, maxTokens)
	}
}

// tokens counts the tokens of a file, without comments and the ends of lines.
func tokens(content []byte) (count int) {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(content)), content, nil, 0)
	for {
		switch _, kind, literal := s.Scan(); {
		case kind == token.EOF:
			return count
		case kind != token.SEMICOLON || literal == ";":
			count++
		}
	}
}

// TestOnlyTestsStretchTimeOuts: the program that is shipped has the time-outs that
// it declares, and passwords that are costly to guess.
func TestOnlyTestsStretchTimeOuts(t *testing.T) {
	for path, content := range productFiles(t) {
		if bytes.Contains(content, []byte("iam.MakePasswordsCheap(")) {
			t.Errorf("%s makes passwords cheap, which only tests may", path)
		}
		if bytes.Contains(content, []byte("stretch.By(")) && path != filepath.Join("jetstream", "natstest", "servers.go") {
			t.Errorf("%s stretches time-outs, which only tests may", path)
		}
	}
}

// TestJSONHasNoEscapesForHTML: only package value writes JSON with encoding/json, since the
// latter makes six bytes of each < unless it is told not to. Masking secrets needs that form.
func TestJSONHasNoEscapesForHTML(t *testing.T) {
	writes := regexp.MustCompile(`json\.(Marshal|MarshalIndent|NewEncoder)\(`)
	for path, content := range productFiles(t) {
		if path = filepath.ToSlash(path); filepath.Dir(path) != "value" && path != "pipeline/run/secrets.go" && writes.Match(content) {
			t.Errorf("%s writes JSON without value.Marshal or value.Encode", path)
		}
	}
}

// productFiles returns what the Go files of the product contain, by their paths.
func productFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (path == "bench" || path == "torture" || d.Name() == "testdata") {
			return cmp.Or(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

func TestImportsPointDownward(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
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
			if (room == "." || room == "value") && (strings.Contains(imported, ".") || imported == "net/http") {
				t.Errorf("%s imports %s: %s takes the standard library and our own packages only, and nothing of HTTP", path, imported, room)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
