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

// A bar is what a figure is held to; the zero bar holds it to nothing.
type bar struct {
	text string
	met  func(value float64) bool
}

func atLeast(limit float64, text string) bar {
	return bar{"at least " + text, func(value float64) bool { return value >= limit }}
}

func atMost(limit float64, text string) bar {
	return bar{"at most " + text, func(value float64) bool { return value <= limit }}
}

func under(limit float64, text string) bar {
	return bar{"under " + text, func(value float64) bool { return value < limit }}
}

// add adds a figure that is held to no bar.
func (t *table) add(figure, value string) { t.hold(figure, value, 0, bar{}) }

// hold adds a figure and whether its value meets a bar.
func (t *table) hold(figure, text string, value float64, b bar) {
	met := "no"
	switch {
	case b.met == nil:
		b.text, met = "–", "–"
	case b.met(value):
		met = "yes"
	}
	*t = append(*t, row{figure, text, b.text, met})
}

// markdown writes the table, nothing if it is empty.
func (t *table) markdown(machine, generator string) string {
	if len(*t) == 0 {
		return ""
	}
	var w strings.Builder
	fmt.Fprintf(&w, "Measured on %s. The load comes from %s on the same machine; bodies have %s bytes.\n\n", machine,
		generator, grouped(bodySize))
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
