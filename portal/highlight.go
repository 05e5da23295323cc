package portal

import (
	"regexp"
	"sluice"
	"strings"
	"unicode"
)

// A sourceLine is a line of a pipeline's source, in pieces that look different.
type sourceLine struct {
	Number  int
	Pieces  []piece
	Remarks []string // what is wrong with the line
}

// A piece is a part of a line, with the class that says how it looks.
type piece struct{ Class, Text string }

// highlight returns the lines of a YAML source, with the mistakes at theirs.
func highlight(source string, findings []sluice.Finding) []sourceLine {
	var lines []sourceLine
	for text := range strings.SplitSeq(strings.TrimSuffix(source, "\n"), "\n") {
		lines = append(lines, sourceLine{Number: len(lines) + 1, Pieces: pieces(text)})
	}
	for _, f := range findings {
		if f.Line >= 1 && f.Line <= len(lines) {
			lines[f.Line-1].Remarks = append(lines[f.Line-1].Remarks, f.Message)
		}
	}
	return lines
}

// around returns the lines with mistakes, and some before and after each.
func around(lines []sourceLine) (near []sourceLine) {
	const some, most = 4, 200
	for i, line := range lines {
		for _, other := range lines[max(0, i-some):min(len(lines), i+some+1)] {
			if other.Remarks != nil && len(near) < most {
				near = append(near, line)
				break
			}
		}
	}
	return near
}

// beginning returns as many lines as a page shows at once.
func beginning(lines []sourceLine) []sourceLine {
	const most = 30 << 10
	size := 0
	for i, line := range lines {
		for _, p := range line.Pieces {
			size += len(p.Class) + len(p.Text) + 30
		}
		if size > most {
			return append(lines[:i:i], sourceLine{Pieces: []piece{{"hl-comment", "… Edit shows the rest."}}})
		}
	}
	return lines
}

// pieces splits a line. It need not understand YAML: what it misreads merely
// has another colour.
func pieces(line string) (all []piece) {
	rest, before := line, ' '
	for rest != "" {
		class, length := next(rest, before)
		if class == "hl-text" {
			all = append(all, inText(rest[:length])...)
		} else if last := len(all) - 1; last >= 0 && all[last].Class == class {
			all[last].Text += rest[:length]
		} else {
			all = append(all, piece{class, rest[:length]})
		}
		before = rune(rest[length-1])
		rest = rest[length:]
	}
	return all
}

var expressions = regexp.MustCompile(`[#$]\{[^}]*\}?`)

// inText returns the pieces of a text in quotes, in which expressions stand
// out.
func inText(text string) (all []piece) {
	done := 0
	for _, found := range expressions.FindAllStringIndex(text, -1) {
		if found[0] > done {
			all = append(all, piece{"hl-text", text[done:found[0]]})
		}
		all = append(all, piece{"hl-expression", text[found[0]:found[1]]})
		done = found[1]
	}
	if done < len(text) {
		all = append(all, piece{"hl-text", text[done:]})
	}
	return all
}

// next returns the first piece of what is left of a line: its class and how
// long it is. before is the character that stands before it.
func next(rest string, before rune) (class string, length int) {
	switch first := rest[0]; {
	case strings.HasPrefix(rest, "#{"), strings.HasPrefix(rest, "${"):
		return "hl-expression", upTo(rest, '}')
	case first == '#' && unicode.IsSpace(before):
		return "hl-comment", len(rest)
	case first == '"' || first == '\'':
		return quoted(rest)
	case startsWord(first) && !isWord(before):
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

// quoted returns the piece of a text in quotes. It may be a key.
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

// word returns the piece of a word: a key, a number or one of the few words
// that are values.
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

// ifKey returns the class of keys if a colon follows, otherwise the given
// class.
func ifKey(rest string, length int, class string) string {
	if rest[length:] == ":" || strings.HasPrefix(rest[length:], ": ") {
		return "hl-key"
	}
	return class
}

func isNumber(text string) bool {
	return strings.Trim(text, "0123456789.") == "" && strings.ContainsAny(text, "0123456789")
}

func startsWord(c byte) bool { return isWord(rune(c)) }

func isWord(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
