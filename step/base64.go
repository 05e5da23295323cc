package step

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/emmansun/base64"

	"sluice"
	"sluice/value"
)

// fromBase64 returns the text that base64 stands for, in a charset; "" is UTF-8.
func fromBase64(input any, charset string) (any, error) {
	decoded, err := decodeBase64(input)
	if err != nil {
		return nil, err
	}
	if charset != "" {
		return decodeCharset(decoded, charset)
	}
	if !utf8.Valid(decoded) {
		return nil, sluice.Errorf(sluice.CodeNotText, "The bytes behind this base64 are not UTF-8 text. Name their charset, such as windows-1252, or pass them on as the base64 they are.")
	}
	return string(decoded), nil
}

// decodeBase64 reads both alphabets, with or without padding and line breaks.
func decodeBase64(input any) ([]byte, error) {
	text, err := textOf(input, value.MaxSize)
	if err != nil {
		return nil, err
	}
	digits := strings.TrimRight(text, "=\r\n")
	if padding := text[len(digits):]; !padded(digits, strings.Count(padding, "=")) {
		return nil, sluice.Errorf(sluice.CodeBase64Invalid, "This is not base64: its padding does not fit its length, so it may be cut off.")
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.ReplaceAll(strings.ReplaceAll(digits, "-", "+"), "_", "/"))
	if err != nil {
		var at base64.CorruptInputError
		errors.As(err, &at)
		line, column := position(text, int(at))
		return nil, sluice.Errorf(sluice.CodeBase64Invalid, "This is not base64: what stands at line %d, column %d can't be decoded.", line, column)
	}
	return decoded, nil
}

// padded reports whether so many padding characters may follow the digits.
func padded(digits string, padding int) bool {
	count := len(digits) - strings.Count(digits, "\r") - strings.Count(digits, "\n")
	return padding == 0 || padding <= 2 && (count+padding)%4 == 0
}

// refuseBase64 rejects base64 where a text in some format is wanted. Payloads and files
// that are not text come as base64, and would be misread. Words can be base64 by chance,
// so it must be long enough and decode to one of the format's marks.
func refuseBase64(text, format, marks string) error {
	const least = 8
	if len(text) < least || len(text)%4 != 0 || strings.ContainsFunc(text, noDigit) {
		return nil
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || !bytes.ContainsAny(decoded, marks) {
		return nil //nolint:nilerr // the text is not base64, as it should be
	}
	return sluice.Errorf(sluice.CodeBase64Given, "This is base64, where %s is wanted: decode it with convert.fromBase64 first, which takes the charset of bytes that are not UTF-8.", format)
}

func noDigit(c rune) bool {
	return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+' && c != '/' && c != '='
}

func toBase64(input any) (any, error) {
	text, err := textOrJSON(input)
	if err != nil {
		return nil, err
	}
	return encodeBase64([]byte(text))
}

// textOrJSON returns text as it is, and another value as JSON.
func textOrJSON(input any) (string, error) {
	if text, ok := input.(string); ok {
		return text, nil
	}
	return encodeJSON(input)
}

func encodeBase64(bytes []byte) (any, error) {
	if base64.StdEncoding.EncodedLen(len(bytes)) > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	return base64.StdEncoding.EncodeToString(bytes), nil
}
