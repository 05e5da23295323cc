package pipelines

import (
	"strings"

	"sluice"
)

// A sourceLine is a line of a pipeline's source.
type sourceLine struct {
	Number    int
	Fragments []fragment
	Remarks   []string // what is wrong with the line
}

// A fragment is a part of a line that looks the same.
type fragment struct{ Class, Text string }

// highlight returns the lines of a YAML source with their mistakes.
func highlight(source string, findings []sluice.Finding) []sourceLine {
	var lines []sourceLine
	for text := range strings.SplitSeq(strings.TrimSuffix(source, "\n"), "\n") {
		lines = append(lines, sourceLine{Number: len(lines) + 1, Fragments: fragments(text)})
	}
	for _, f := range findings {
		if f.Line >= 1 && f.Line <= len(lines) {
			lines[f.Line-1].Remarks = append(lines[f.Line-1].Remarks, f.Message)
		}
	}
	return lines
}

// around returns the lines with mistakes, and a few around each.
func around(lines []sourceLine) (near []sourceLine) {
	const some, most = 4, 200
	for i, line := range lines {
		for _, other := range lines[max(0, i-some):min(len(lines), i+some+1)] {
			if other.Remarks != nil && len(near) < most {
				near = append(near, line)
				break
			}
		}
	}
	return near
}

// beginning returns as many lines as a page shows.
func beginning(lines []sourceLine) []sourceLine {
	const most = 30 << 10
	size := 0
	for i, line := range lines {
		for _, p := range line.Fragments {
			size += len(p.Class) + len(p.Text) + 30
		}
		if size > most {
			return append(lines[:i:i], sourceLine{Fragments: []fragment{{"hl-comment", "… Edit shows the rest."}}})
		}
	}
	return lines
}
