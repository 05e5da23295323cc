// Package yamltext reads YAML by the rules of JSON: one document, and numbers that stay
// exact. It says where a text ceases to be YAML: the reader's own errors name where the
// block begins that they are in, and count lines in two ways.
package yamltext

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var readerError = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?(?:line (\d+): )?(.*)`)

// Mistake returns what an error of the reader says of a text, and the place: the
// beginning of the line at which the text ceases to be YAML.
func Mistake(text string, err error) (line, column int, message string) {
	found := readerError.FindStringSubmatch(err.Error())
	message = strings.TrimSuffix(found[2], ".")
	reported, _ := strconv.Atoi(found[1]) // not every error names one
	if strings.HasPrefix(message, "did not find expected") {
		reported++ // of these errors the reader counts lines from 0
	}
	lines := strings.SplitAfter(text, "\n")
	line = brokenLine(lines, min(max(1, reported), len(lines)))
	written := strings.TrimRight(lines[line-1], " \t\r\n")
	return line, 1 + len(written) - len(strings.TrimLeft(written, " ")), message
}

// brokenLine returns the first line with which all that comes before is not YAML, and
// does not become so a few lines later. A text that is YAML after all, or too large to
// be read again and again, has the line that the reader reported.
func brokenLine(lines []string, reported int) int {
	const (
		maxRead = 8 << 20 // bytes in all
		further = 40      // lines that texts and lists in brackets may go on for
	)
	read := 0
	isYAML := func(count int) bool {
		part := strings.Join(lines[:count], "")
		read += len(part)
		return yaml.Unmarshal([]byte(part), new(yaml.Node)) == nil
	}
	if isYAML(len(lines)) {
		return reported
	}
	good, bad := 0, len(lines)
	for read < maxRead {
		if good+1 < bad {
			if middle := (good + bad) / 2; isYAML(middle) {
				good = middle
			} else {
				bad = middle
			}
			continue
		}
		last := min(bad+further, len(lines))
		later := bad + 1
		for later <= last && !isYAML(later) {
			later++
		}
		if later > last {
			return bad
		}
		good, bad = later, len(lines)
	}
	return reported
}
