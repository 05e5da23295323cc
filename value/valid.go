package value

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Valid reports whether a text is JSON in UTF-8 with at most MaxDepth levels of lists and
// objects. It takes one pass, and no memory: every large body comes through here.
func Valid(text []byte) bool {
	at := valueEnd(text, SkipSpace(text, 0), 0)
	return at >= 0 && SkipSpace(text, at) == len(text)
}

// valueEnd returns where a value ends that begins at a place within so many levels, or -1.
func valueEnd(text []byte, at, depth int) int {
	if at < 0 || at == len(text) {
		return -1
	}
	switch c := text[at]; c {
	case '{', '[':
		return listEnd(text, at, depth+1)
	case '"':
		return stringEnd(text, at+1)
	case 't', 'f', 'n':
		for _, name := range []string{"true", "false", "null"} {
			if bytes.HasPrefix(text[at:], []byte(name)) {
				return at + len(name)
			}
		}
		return -1
	}
	return numberEnd(text, at)
}

// listEnd returns where a list or an object ends, or -1.
func listEnd(text []byte, at, depth int) int {
	if depth > MaxDepth {
		return -1
	}
	closing := text[at] + 2
	if at = SkipSpace(text, at+1); at < len(text) && text[at] == closing {
		return at + 1
	}
	for {
		if closing == '}' {
			at = memberName(text, at)
		}
		if at = valueEnd(text, at, depth); at < 0 {
			return -1
		}
		if at = SkipSpace(text, at); at == len(text) || text[at] != ',' {
			break
		}
		at = SkipSpace(text, at+1)
	}
	if at == len(text) || text[at] != closing {
		return -1
	}
	return at + 1
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

// stringEnd returns where a string ends whose content begins at a place, or -1.
func stringEnd[S ~string | ~[]byte](text S, at int) int {
	for at < len(text) {
		for at+8 <= len(text) && asIs(binary.LittleEndian.Uint64([]byte(text[at:at+8]))) {
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
			_, size := utf8.DecodeRune([]byte(text[at:min(at+utf8.UTFMax, len(text))]))
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
func escapeEnd[S ~string | ~[]byte](text S, at int) int {
	if at == len(text) {
		return -1
	}
	if text[at] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, text[at]) < 0 {
			return -1
		}
		return at + 1
	}
	end := at + len("u0000")
	if end > len(text) {
		return -1
	}
	if _, err := strconv.ParseUint(string(text[at+1:end]), 16, 16); err != nil {
		return -1
	}
	return end
}

// numberEnd returns where a number ends that begins at a place, or -1.
func numberEnd[S ~string | ~[]byte](text S, at int) int {
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
func digitsEnd[S ~string | ~[]byte](text S, at int) int {
	begin := at
	for at < len(text) && '0' <= text[at] && text[at] <= '9' {
		at++
	}
	if at == begin {
		return -1
	}
	return at
}
