package value

// Inspect reports how many levels of lists and objects a JSON text has, and how
// many values it is decoded to at the most: few bytes of JSON can take many of
// memory. For what is not JSON the numbers mean nothing.
func Inspect[S ~string | ~[]byte](text S) (levels, values int) {
	now, quoted := 0, false
	values = 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			now++
			values++
			levels = max(levels, now)
		case c == ']' || c == '}':
			now--
		case c == ',':
			values++
		}
	}
	return levels, values
}

// Footprint returns how many bytes a text takes in memory, about, once it is
// decoded: from JSON, and at the most from other formats. Few bytes of text can
// take many of memory.
func Footprint[S ~string | ~[]byte](text S) int {
	const object, list, item = 312, 24, 40 // each with what it takes where it is
	bytes, quoted := len(text), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '<':
			bytes += object
		case c == '[':
			bytes += list
		case c == ',' || c == ':' || c == '\n':
			bytes += item
		}
	}
	return bytes
}
