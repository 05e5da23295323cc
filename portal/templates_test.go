package portal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxColumns bounds the lines of templates.
const maxColumns = 140

var (
	startTag = regexp.MustCompile(`<([a-z][a-z0-9]*)`)
	inText   = regexp.MustCompile(`^(?:a|b|br|code|i|input|kbd|path|small|span|time|wbr)$`)
)

// TestTemplatesCanBeReviewed: a line of a template has one element besides those that stand in a
// text, is indented by pairs of spaces, and is not too long.
func TestTemplatesCanBeReviewed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.html")
	rooms, failed := filepath.Glob("*/*.html")
	if files = append(files, rooms...); err != nil || failed != nil || len(files) < 30 {
		t.Fatal(files, err, failed)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for number, line := range strings.Split(string(content), "\n") {
			text := strings.TrimLeft(line, " ")
			elements := 0
			for _, tag := range startTag.FindAllStringSubmatch(text, -1) {
				if !inText.MatchString(tag[1]) {
					elements++
				}
			}
			if elements > 1 || len([]rune(line)) > maxColumns || (len(line)-len(text))%2 != 0 || strings.TrimRight(line, " \t") != line {
				t.Errorf("%s:%d: one element, no trailing space, at most %d columns:\n%s", file, number+1, maxColumns, line)
			}
		}
	}
}
