package value

// SkipSpace returns where the next byte is that is no white space of JSON.
func SkipSpace(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t') {
		at++
	}
	return at
}

// SkipValue returns the end of the value that begins at a place, -1 if it has none. It does
// not check what is inside.
func SkipValue(data []byte, at int) int {
	if at >= len(data) {
		return -1
	}
	start, depth := at, 0
	for ; at < len(data); at++ {
		switch data[at] {
		case '"':
			if at = closingQuote(data, at); at < 0 {
				return -1
			}
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
			if depth < 0 {
				return wordEnd(start, at)
			}
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return wordEnd(start, at)
			}
		}
	}
	if depth > 0 {
		return -1
	}
	return at
}

// wordEnd returns the end of a word or number, -1 if it is empty.
func wordEnd(start, at int) int {
	if start == at {
		return -1
	}
	return at
}

// closingQuote returns the position of the quote that ends a string.
func closingQuote(data []byte, at int) int {
	for at++; at < len(data); at++ {
		switch data[at] {
		case '\\':
			at++
		case '"':
			return at
		}
	}
	return -1
}
