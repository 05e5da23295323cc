package yamltext

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestMistake(t *testing.T) {
	for name, test := range map[string]struct {
		text         string
		line, column int
	}{
		"a bracket without its end":        {"a: 1\nb: [1, 2\nc: 3\n", 2, 1},
		"a key among the items of a list":  {"list:\n  - one\n  two: 2\nlast: 3\n", 3, 3},
		"a tab at the beginning of a line": {"a:\n  b: 1\n\tc: 2\n", 3, 1},
		"a text without its end":           {"a: 1\nb: \"open\nc: 3\n", 2, 1},
		"the first line":                   {"a: b: c\n", 1, 1},
		"after lines that close again":     {"a: [\n  1,\n  2,\n]\nb: ]\n", 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			err := yaml.Unmarshal([]byte(test.text), new(yaml.Node))
			if err == nil {
				t.Fatal("this is YAML")
			}
			line, column, message := Mistake(test.text, err)
			if line != test.line || column != test.column {
				t.Errorf("%d:%d, want %d:%d (%v)", line, column, test.line, test.column, err)
			}
			if message == "" || strings.HasPrefix(message, "yaml:") || strings.HasPrefix(message, "line ") {
				t.Errorf("the message is %q", message)
			}
		})
	}
}
