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
