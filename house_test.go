package sluice_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how wide a line may be, a tab being four columns.
const maxColumns = 120

var tagged = regexp.MustCompile("`[a-z]+:\"[^`]*`( +// .*)?$")

// TestLinesFit: a line fits on a screen beside another one. A field with a tag may be longer,
// since a tag can't be broken.
func TestLinesFit(t *testing.T) {
	for path, content := range productFiles(t) {
		number := 0
		for line := range strings.Lines(string(content)) {
			number++
			line = strings.TrimSuffix(line, "\n")
			columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
			if columns > maxColumns && !tagged.MatchString(line) {
				t.Errorf("%s:%d has %d columns, more than %d", path, number, columns, maxColumns)
			}
		}
	}
}

var named = regexp.MustCompile(`[A-Za-z0-9_/*.-]*[A-Za-z0-9_*]\.go\b`)

// TestNamedFilesExist: every Go file that a comment, CONTRIBUTING.md or the architecture names
// is there, beside the text or below the top folder.
func TestNamedFilesExist(t *testing.T) {
	check := func(path, text string) {
		for _, name := range named.FindAllString(text, -1) {
			beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), name)) // no pattern of ours is malformed
			below, _ := filepath.Glob(name)
			if len(beside)+len(below) == 0 {
				t.Errorf("%s names %s, which is not there", path, name)
			}
		}
	}
	for path, content := range productFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range file.Comments {
			check(path, group.Text())
		}
	}
	for _, path := range []string{"CONTRIBUTING.md", filepath.Join("docs", "architecture.md")} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		check(path, string(content))
	}
}
