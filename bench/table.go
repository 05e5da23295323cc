package main

import (
	"fmt"
	"strconv"
	"strings"
)

// A table collects the figures of a run.
type table []row

type row struct {
	figure, value string
	bar, met      string // a dash where the figure is held to nothing
}

// add adds a figure that is held to no bar.
func (t *table) add(figure, value string) {
	*t = append(*t, row{figure, value, "–", "–"})
}

// hold adds a figure and whether it meets a bar.
func (t *table) hold(figure, value, bar string, met bool) {
	word := "no"
	if met {
		word = "yes"
	}
	*t = append(*t, row{figure, value, bar, word})
}

// markdown writes the table, nothing if it is empty.
func (t *table) markdown(machine, generator string) string {
	if len(*t) == 0 {
		return ""
	}
	var w strings.Builder
	fmt.Fprintf(&w, "Measured on %s. The load comes from %s on the same machine; bodies have %s bytes.\n\n", machine, generator, grouped(bodySize))
	w.WriteString("| Figure | Value | Bar | Met |\n|---|---|---|---|\n")
	for _, r := range *t {
		fmt.Fprintf(&w, "| %s | %s | %s | %s |\n", r.figure, r.value, r.bar, r.met)
	}
	return w.String()
}

// grouped writes a number without decimals, its thousands apart.
func grouped(n float64) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
