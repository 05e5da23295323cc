package step

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"sluice"
	"sluice/value"
)

// decodeCharset returns the text that bytes stand for in a charset, named as
// browsers name it.
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
