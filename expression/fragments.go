package expression

import "strings"

// fragments splits a text at its expressions. \#{ and \${ stand for the characters
// themselves.
func fragments(text string) ([]fragment, error) {
	var found []fragment
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			found = append(found, fragment{text: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && opens(text, i+1):
			literal.WriteString(text[i+1 : i+3])
			i += 2
		case opens(text, i):
			end := closing(text, i+2)
			if end < 0 {
				return nil, &SyntaxError{i, "The expression that starts here is never closed with }; " +
					"write \\" + text[i:i+2] + " for the characters themselves."}
			}
			flush()
			found = append(found, fragment{text: text[i+2 : end], offset: i + 2})
			i = end
		default:
			literal.WriteByte(text[i])
		}
	}
	flush()
	return found, nil
}

// opens reports whether an expression starts at i.
func opens(text string, i int) bool {
	return i+1 < len(text) && (text[i] == '#' || text[i] == '$') && text[i+1] == '{'
}

// closing finds the } that ends the expression whose code starts at i, or -1.
// It knows braces, the three kinds of quotes and both kinds of comments.
func closing(text string, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case '"', '\'':
			i = quoteEnd(text, i)
		case '`':
			i = after(text, i+1, "`")
		case '/':
			switch {
			case strings.HasPrefix(text[i:], "//"):
				i = after(text, i, "\n")
			case strings.HasPrefix(text[i:], "/*"):
				i = after(text, i+2, "*/")
			}
		}
	}
	return -1
}

// quoteEnd finds the quote that ends the one at i, past escaped ones.
func quoteEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// after returns the index of the last byte of the next delimiter, or the end of the text.
func after(text string, i int, delimiter string) int {
	at := strings.Index(text[i:], delimiter)
	if at < 0 {
		return len(text)
	}
	return i + at + len(delimiter) - 1
}
