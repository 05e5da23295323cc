package value

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// Valid reports whether a text is JSON in UTF-8 with at most MaxDepth levels of lists and
// objects. It takes one pass, and no memory: every large body comes through here.
func Valid(text []byte) bool {
	s := jsonScan{text: text, at: SkipSpace(text, 0)}
	for s.at >= 0 && s.at < len(text) {
		if c := text[s.at]; c != '{' && c != '[' {
			s.at = scalar(text, s.at)
		} else if !s.open(c) {
			continue
		}
		if !s.next() {
			return s.depth == 0 && s.at == len(text)
		}
	}
	return false
}

// A jsonScan is how far a check of JSON has come.
type jsonScan struct {
	text  []byte
	at    int // -1: it is not valid
	depth int
	lists [MaxDepth/64 + 1]uint64 // the levels that are lists, by bit
}

// open enters a list or an object, and reports whether it is over already: otherwise its
// first value is next.
func (s *jsonScan) open(c byte) (over bool) {
	if s.depth == MaxDepth {
		s.at = -1
		return false
	}
	word, bit := &s.lists[s.depth/64], uint64(1)<<(s.depth%64)
	*word &^= bit
	if c == '[' {
		*word |= bit
	}
	s.depth++
	s.at = SkipSpace(s.text, s.at+1)
	if s.at == len(s.text) || s.text[s.at] == c+2 { // what closes it
		return true
	}
	if c == '{' {
		s.at = memberName(s.text, s.at)
	}
	return false
}

// next goes on behind a value, to the next one, and reports whether there is one.
func (s *jsonScan) next() bool {
	for s.at >= 0 {
		s.at = SkipSpace(s.text, s.at)
		if s.depth == 0 || s.at == len(s.text) {
			return false
		}
		list := s.lists[(s.depth-1)/64]>>((s.depth-1)%64)&1 == 1
		switch c := s.text[s.at]; {
		case c == ',':
			s.at = SkipSpace(s.text, s.at+1)
			if !list {
				s.at = memberName(s.text, s.at)
			}
			return true
		case list && c == ']' || !list && c == '}':
			s.depth--
			s.at++
		default:
			s.at = -1
		}
	}
	return false
}

// memberName returns where the value of a member begins whose name begins at a place, or -1.
func memberName(text []byte, at int) int {
	if at == len(text) || text[at] != '"' {
		return -1
	}
	if at = stringEnd(text, at+1); at < 0 {
		return -1
	}
	if at = SkipSpace(text, at); at == len(text) || text[at] != ':' {
		return -1
	}
	return SkipSpace(text, at+1)
}

// scalar returns where a string, number or name ends that begins at a place, or -1.
func scalar(text []byte, at int) int {
	switch c := text[at]; {
	case c == '"':
		return stringEnd(text, at+1)
	case c == '-' || '0' <= c && c <= '9':
		return numberEnd(text, at)
	}
	for _, name := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(text[at:], []byte(name)) {
			return at + len(name)
		}
	}
	return -1
}

// stringEnd returns where a string ends whose content begins at a place, or -1.
func stringEnd(text []byte, at int) int {
	for at < len(text) {
		for at+8 <= len(text) && asIs(binary.LittleEndian.Uint64(text[at:])) {
			at += 8
		}
		if at == len(text) {
			return -1
		}
		switch c := text[at]; {
		case c == '"':
			return at + 1
		case c == '\\':
			if at = escapeEnd(text, at+1); at < 0 {
				return -1
			}
		case c < ' ':
			return -1
		case c < utf8.RuneSelf:
			at++
		default:
			_, size := utf8.DecodeRune(text[at:])
			if size == 1 {
				return -1
			}
			at += size
		}
	}
	return -1
}

// asIs reports whether eight bytes of a string are all of ASCII, and none of them is a quote,
// a backslash or a control character.
func asIs(word uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := word^'"'*ones, word^'\\'*ones
	return (word|(word-' '*ones)|(quote-ones)|(backslash-ones))&high == 0
}

// escapeEnd returns where an escape ends that goes on at a place behind its backslash, or -1.
func escapeEnd(text []byte, at int) int {
	if at == len(text) {
		return -1
	}
	if text[at] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, text[at]) < 0 {
			return -1
		}
		return at + 1
	}
	for range 4 {
		if at++; at == len(text) || !isHex(text[at]) {
			return -1
		}
	}
	return at + 1
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// numberEnd returns where a number ends that begins at a place, or -1.
func numberEnd(text []byte, at int) int {
	if text[at] == '-' {
		at++
	}
	if at < len(text) && text[at] == '0' {
		at++
	} else if at = digitsEnd(text, at); at < 0 {
		return -1
	}
	if at < len(text) && text[at] == '.' {
		if at = digitsEnd(text, at+1); at < 0 {
			return -1
		}
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		if at++; at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		return digitsEnd(text, at)
	}
	return at
}

// digitsEnd returns where one or more digits end, or -1.
func digitsEnd(text []byte, at int) int {
	begin := at
	for at < len(text) && isDigit(text[at]) {
		at++
	}
	if at == begin {
		return -1
	}
	return at
}
