// Package yamltext reads YAML by the rules of JSON: one document, and exact numbers. It
// also finds the line where a text stops being YAML, since the errors of the YAML
// library name the start of the block instead, and count lines in two ways.
package yamltext

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/value"
)

// One reads a text with one document. root is nil if the text is empty, and second is
// the start of a second document, which callers refuse.
func One(text string) (root, second *yaml.Node, err error) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var document, next yaml.Node
	if err := dec.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if len(document.Content) == 0 {
		return nil, nil, nil
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		second = &next
	case !errors.Is(err, io.EOF):
		return nil, nil, err
	}
	return document.Content[0], second, nil
}

// ErrNotFinite means that JSON can't express a number.
var ErrNotFinite = errors.New("only finite numbers are taken")

// Number returns the value of a number. It reads it as JSON if it can, so that it stays
// exact. Callers decide what a leading zero means.
func Number(n *yaml.Node) (any, error) {
	decoded, err := value.Decode(n.Value)
	if err != nil {
		decoded = nil
		if err := n.Decode(&decoded); err != nil {
			return nil, err
		}
	}
	switch number := decoded.(type) {
	case int, json.Number:
		return number, nil
	case uint64:
		return json.Number(strconv.FormatUint(number, 10)), nil
	case float64:
		if !math.IsInf(number, 0) && !math.IsNaN(number) {
			return number, nil
		}
	}
	return nil, ErrNotFinite
}

var readerError = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?(?:line (\d+): )?(.*)`)

// Mistake returns the message of an error of the YAML library, and its position: the
// start of the line where the text stops being YAML.
func Mistake(text string, err error) (line, column int, message string) {
	found := readerError.FindStringSubmatch(err.Error())
	message = strings.TrimSuffix(found[2], ".")
	reported, _ := strconv.Atoi(found[1]) // not every error names a line
	if strings.HasPrefix(message, "did not find expected") {
		reported++ // in these errors lines count from 0
	}
	lines := strings.SplitAfter(text, "\n")
	line = brokenLine(lines, min(max(1, reported), len(lines)))
	written := strings.TrimRight(lines[line-1], " \t\r\n")
	return line, 1 + len(written) - len(strings.TrimLeft(written, " ")), message
}

// brokenLine returns the first line up to which the text is not YAML, and does not
// become YAML a few lines later. If the text is YAML after all, or too large to read
// again and again, it returns the line that the library reported.
func brokenLine(lines []string, reported int) int {
	const (
		maxRead = 8 << 20 // bytes in all
		further = 40      // lines that a text or a list in brackets may take
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
