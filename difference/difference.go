// Package difference compares texts line by line, for the command line and the portal.
package difference

import (
	"slices"
	"strings"
)

// An Edit is a line of one of two texts, or of both.
type Edit struct {
	Sign byte // '-', '+', or ' ' for both
	Line string
}

// Lines returns the edits from one text to another, with a few unchanged lines around
// each change.
func Lines(before, after string) (edits []Edit) {
	all := editsOf(linesOf(before), linesOf(after))
	for i, e := range all {
		if nearChange(all, i) {
			edits = append(edits, e)
		}
	}
	return edits
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func nearChange(edits []Edit, at int) bool {
	const context = 2
	return slices.ContainsFunc(edits[max(0, at-context):min(len(edits), at+context+1)],
		func(e Edit) bool { return e.Sign != ' ' })
}

// editsOf returns the fewest edits from one text to another. If the search would take
// too long, it replaces everything between the common start and end.
func editsOf(a, b []string) []Edit {
	var head, tail []Edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, Edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append([]Edit{{' ', a[len(a)-1]}}, tail...)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return slices.Concat(head, viaCommon(a, b), tail)
}

// viaCommon keeps the longest common subsequence of two lists of lines, unless they are too long to find it.
func viaCommon(a, b []string) (edits []Edit) {
	const most = 4_000_000
	if len(a)*len(b) > most {
		return append(viaCommon(a, nil), viaCommon(nil, b)...)
	}
	common := make([][]int, len(a)+1) // its length from line i of a and j of b
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
			edits = append(edits, Edit{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			edits = append(edits, Edit{'-', a[i]})
			i++
		default:
			edits = append(edits, Edit{'+', b[j]})
			j++
		}
	}
	return edits
}
