package wording

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escaped returns a text with unprintable characters beyond ASCII as \u and four digits: control
// characters, separators of lines, and marks that turn the direction of a text. JSON stays the same
// JSON. What callers send must not make a log or a terminal look like something else.
func Escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, beyondPrint) {
		return text
	}
	var safe []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !beyondPrint(r):
			safe = append(safe, text[:size]...)
		case r == utf8.RuneError && size == 1:
			safe = append(safe, `\ufffd`...)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				safe = fmt.Appendf(safe, `\u%04x`, unit)
			}
		}
		text = text[size:]
	}
	return safe
}

func beyondPrint(r rune) bool { return r >= 0x7f && (r == utf8.RuneError || !unicode.IsPrint(r)) }
