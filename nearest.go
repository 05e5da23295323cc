package sluice

import "strings"

// Nearest gives the candidate with the smallest edit distance to name if it is
// close enough to be a slip, else nothing.
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

// distance is the Levenshtein distance of two strings, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
