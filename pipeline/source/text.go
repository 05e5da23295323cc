package source

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A text is a source that knows where its lines start.
type text struct {
	source string
	starts []int
}

func textOf(source string) text {
	t := text{source, []int{0}}
	for i := range len(source) {
		if source[i] == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// line returns a line of the source, "" if there is none.
func (t text) line(number int) string {
	if number < 1 || number > len(t.starts) {
		return ""
	}
	line, _, _ := strings.Cut(t.source[t.starts[number-1]:], "\n")
	return strings.TrimRight(line, " \t\r")
}

// snippet returns a line, shortened for people.
func (t text) snippet(line int) string {
	const longest = 200
	s := t.line(line)
	for i, count := 0, 0; i < len(s); count++ {
		if count == longest {
			return s[:i] + "…"
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return s
}

// offset returns the byte at a line and column.
func (t text) offset(line, column int) int {
	if line < 1 || line > len(t.starts) {
		return len(t.source)
	}
	at := t.starts[line-1]
	for ; column > 1 && at < len(t.source); column-- {
		_, size := utf8.DecodeRuneInString(t.source[at:])
		at += size
	}
	return at
}

// position returns the line and column of a byte.
func (t text) position(at int) (line, column int) {
	line = len(t.starts)
	for line > 1 && t.starts[line-1] > at {
		line--
	}
	return line, 1 + utf8.RuneCountInString(t.source[t.starts[line-1]:at])
}

// locate returns the position in the source of a byte of a scalar's text. It reads both
// side by side, since the source has additional white space, quotes and escapes.
func (t text) locate(n *node, offset int) (line, column int) {
	w := walker{rest: t.source[t.offset(n.line, n.column):], style: n.style}
	switch n.style {
	case singleQuoted, doubleQuoted:
		w.skip(1)
	case block:
		w.skip(1 + strings.IndexByte(w.rest, '\n'))
	}
	for i, r := range n.text {
		w.skipTo(r)
		if i >= offset {
			break
		}
		w.pass(r)
	}
	return t.position(len(t.source) - len(w.rest))
}

// A walker goes through the source of a scalar.
type walker struct {
	rest  string // of the source
	style style
}

func (w *walker) skip(bytes int) { w.rest = w.rest[min(bytes, len(w.rest)):] }

// skipTo skips the white space in the source before a character.
func (w *walker) skipTo(r rune) {
	if unicode.IsSpace(r) {
		return
	}
	w.rest = strings.TrimLeftFunc(w.rest, unicode.IsSpace)
	for w.style == doubleQuoted && strings.HasPrefix(w.rest, "\\\n") {
		w.rest = strings.TrimLeftFunc(w.rest[2:], unicode.IsSpace)
	}
}

// pass skips a character. It leaves white space to skipTo, unless that is escaped.
func (w *walker) pass(r rune) {
	switch {
	case w.style == doubleQuoted && strings.HasPrefix(w.rest, `\`):
		w.skip(escapeLength(w.rest, r))
	case unicode.IsSpace(r):
	case w.style == singleQuoted && r == '\'':
		w.skip(2)
	default:
		w.skip(utf8.RuneLen(r))
	}
}

// escapeLength returns how many bytes an escape for a character takes.
func escapeLength(escape string, r rune) int {
	const pair = 12 // of \ud83d\ude00
	switch {
	case len(escape) < 2:
		return 1
	case escape[1] == 'u' && r > 0xFFFF:
		return pair
	case escape[1] == 'x':
		return len(`\x00`)
	case escape[1] == 'u':
		return len(`\u0000`)
	case escape[1] == 'U':
		return len(`\U00000000`)
	}
	return len(`\n`)
}
