package main

import (
	"fmt"
	"slices"
	"strings"
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
	edits := editsOf(linesOf(before), linesOf(after))
	for i, e := range edits {
		switch line := string(e.sign) + " " + printable(e.line); {
		case e.sign == '-':
			fmt.Fprintln(&b, paint(colour, red, line))
		case e.sign == '+':
			fmt.Fprintln(&b, paint(colour, green, line))
		case nearChange(edits, i):
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// An edit is a line of one of two texts, or of both.
type edit struct {
	sign byte // '-', '+', or ' ' for both
	line string
}

func nearChange(edits []edit, at int) bool {
	const context = 2
	for i := max(0, at-context); i <= min(len(edits)-1, at+context); i++ {
		if edits[i].sign != ' ' {
			return true
		}
	}
	return false
}

// editsOf returns the shortest way from one text to another. A common start and
// end need no search; a search that would take too long is left out.
func editsOf(a, b []string) []edit {
	const most = 4_000_000
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append([]edit{{' ', a[len(a)-1]}}, tail...)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	middle := make([]edit, 0, len(a)+len(b))
	if len(a)*len(b) > most {
		for _, line := range a {
			middle = append(middle, edit{'-', line})
		}
		for _, line := range b {
			middle = append(middle, edit{'+', line})
		}
	} else {
		middle = viaCommon(a, b)
	}
	return append(append(head, middle...), tail...)
}

// viaCommon goes by the longest common subsequence of two lists of lines.
func viaCommon(a, b []string) (edits []edit) {
	common := make([][]int, len(a)+1) // of what follows
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			edits = append(edits, edit{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			edits = append(edits, edit{'-', a[i]})
			i++
		default:
			edits = append(edits, edit{'+', b[j]})
			j++
		}
	}
	return edits
}
