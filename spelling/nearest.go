// Package spelling guesses which name was meant by one that does not exist.
// Callers pass the names that they would have accepted.
package spelling

import "strings"

// Nearest returns the candidate with the smallest edit distance to name, or "" if
// none is close enough to be a slip.
func Nearest(name string, candidates []string) string {
	const longest = 64 // no name of ours is longer: bounds the work on hostile input
	if len(name) > longest {
		return ""
	}
	best, least := "", len(name)/2+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// Hint ends a sentence about an unknown name: with the name that was probably
// meant, or with the text for when no candidate is close.
func Hint(name string, candidates []string, otherwise string) string {
	if near := Nearest(name, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// distance returns how many bytes of a must be changed, added, removed or swapped
// with the next byte to turn it into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
