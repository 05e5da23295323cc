package expression

import "unicode/utf8"

// placeOf returns the place that an index means; a negative one counts from the end.
func placeOf(index, length int) (int, bool) {
	if index < 0 {
		index += length
	}
	return index, index >= 0 && index < length
}

// characters counts the characters of a text and pays for cutting it.
func characters(f *frame, text string) int {
	f.read(2 * len(text))
	return utf8.RuneCountInString(text)
}

// part cuts a text at characters, never within one.
func part(text string, from, to int) string {
	start, end, count := len(text), len(text), 0
	for i := range text {
		if count == from {
			start = i
		}
		if count == to {
			end = i
			break
		}
		count++
	}
	return text[start:end]
}
