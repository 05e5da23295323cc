package main

import (
	"fmt"
	"strings"

	"sluice/difference"
)

// diff returns how a text differs from what it was, line by line, with a few
// unchanged lines around each change.
func diff(name, before, after string, colour bool) string {
	var b strings.Builder
	title := "changed"
	switch {
	case before == "":
		title = "new"
	case after == "":
		title = "deleted"
	}
	fmt.Fprintf(&b, "%s\n", paint(colour, bold, printable(name)+" ("+title+")"))
	for _, e := range difference.Lines(before, after) {
		switch line := string(e.Sign) + " " + printable(e.Line); e.Sign {
		case '-':
			fmt.Fprintln(&b, paint(colour, red, line))
		case '+':
			fmt.Fprintln(&b, paint(colour, green, line))
		default:
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}
