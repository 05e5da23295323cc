package pipelines

import (
	"regexp"
	"strings"
	"unicode"
)

// fragments splits a line. It only guesses YAML: what it misreads has another colour.
func fragments(line string) (all []fragment) {
	rest, before := line, ' '
	for rest != "" {
		class, length := next(rest, before)
		if class == "hl-text" {
			all = append(all, inText(rest[:length])...)
		} else if last := len(all) - 1; last >= 0 && all[last].Class == class {
			all[last].Text += rest[:length]
		} else {
			all = append(all, fragment{class, rest[:length]})
		}
		before = rune(rest[length-1])
		rest = rest[length:]
	}
	return all
}

var expressions = regexp.MustCompile(`[#$]\{[^}]*\}?`)

// inText splits a quoted text at its expressions.
func inText(text string) (all []fragment) {
	done := 0
	for _, found := range expressions.FindAllStringIndex(text, -1) {
		if found[0] > done {
			all = append(all, fragment{"hl-text", text[done:found[0]]})
		}
		all = append(all, fragment{"hl-expression", text[found[0]:found[1]]})
		done = found[1]
	}
	if done < len(text) {
		all = append(all, fragment{"hl-text", text[done:]})
	}
	return all
}

// next returns the class and length of the first fragment of rest. before is the
// character before it.
func next(rest string, before rune) (class string, length int) {
	switch first := rest[0]; {
	case strings.HasPrefix(rest, "#{"), strings.HasPrefix(rest, "${"):
		return "hl-expression", upTo(rest, '}')
	case first == '#' && unicode.IsSpace(before):
		return "hl-comment", len(rest)
	case first == '"' || first == '\'':
		return quoted(rest)
	case isWord(rune(first)) && !isWord(before):
		return word(rest)
	}
	return "", 1
}

// upTo returns the length up to and including a character, or the whole length.
func upTo(text string, end byte) int {
	if i := strings.IndexByte(text, end); i >= 0 {
		return i + 1
	}
	return len(text)
}

// quoted returns the fragment of a quoted text or key.
func quoted(rest string) (class string, length int) {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && rest[0] == '"':
			i++
		case rest[i] == rest[0]:
			return ifKey(rest, i+1, "hl-text"), i + 1
		}
	}
	return "hl-text", len(rest)
}

// word returns the fragment of a key, a number, a constant or another word.
func word(rest string) (class string, length int) {
	for length < len(rest) && (isWord(rune(rest[length])) || rest[length] == '.' || rest[length] == '-') {
		length++
	}
	switch text := rest[:length]; {
	case text == "true", text == "false", text == "null", isNumber(text):
		class = "hl-number"
	}
	return ifKey(rest, length, class), length
}

// ifKey returns the class of keys if a colon follows, otherwise the given class.
func ifKey(rest string, length int, class string) string {
	if rest[length:] == ":" || strings.HasPrefix(rest[length:], ": ") {
		return "hl-key"
	}
	return class
}

func isNumber(text string) bool {
	return strings.Trim(text, "0123456789.") == "" && strings.ContainsAny(text, "0123456789")
}

func isWord(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
