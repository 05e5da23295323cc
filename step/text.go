package step

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"sluice"
	"sluice/value"
)

// textOf returns an input that must be text.
func textOf(input any, limit int) (string, error) {
	text, ok := input.(string)
	if !ok {
		return "", invalid("input", "must be text, not %s", value.Describe(input))
	}
	if len(text) > limit {
		return "", value.TooLarge(limit)
	}
	if !utf8.ValidString(text) {
		return "", invalid("input", "must be UTF-8 text")
	}
	return text, nil
}

// invalid is the error of a parameter. It never quotes the value, which may be secret.
func invalid(parameter, rule string, args ...any) error {
	return sluice.InvalidParameter(parameter, "The parameter %s %s.", parameter, fmt.Sprintf(rule, args...))
}

// position returns the line and column of an offset, counted from 1. Columns count
// characters.
func position(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// cut shortens a text that people read.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// decodeCharset decodes bytes in a charset, named as in browsers.
func decodeCharset(bytes []byte, charset string) (any, error) {
	charset = strings.TrimSpace(charset)
	known, err := htmlindex.Get(charset)
	if err != nil || known == encoding.Replacement { // the latter stands for charsets that browsers refuse
		return nil, invalid("charset", "must be the name of a charset, such as utf-8, windows-1252, iso-8859-15, utf-16le or shift_jis")
	}
	if len(bytes) > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	decoded, err := known.NewDecoder().Bytes(bytes)
	if err != nil || strings.ContainsRune(string(decoded), utf8.RuneError) { //nolint:mirror // bytes is the parameter here
		return nil, sluice.Errorf(sluice.CodeNotText, "Some of the bytes stand for nothing in the charset %s; they may be of another one.", strings.ToLower(charset))
	}
	if len(decoded) > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	return strings.TrimPrefix(string(decoded), "\ufeff"), nil // a byte order mark
}
