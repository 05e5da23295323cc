package step

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/emmansun/base64"

	"sluice"
	"sluice/value"
)

// fromBase64 takes both alphabets, with padding or without, in lines or not.
func fromBase64(input any) (any, error) {
	text, err := textOf(input, value.MaxSize)
	if err != nil {
		return nil, err
	}
	digits := strings.TrimRight(text, "=\r\n")
	if padding := text[len(digits):]; !padded(digits, strings.Count(padding, "=")) {
		return nil, sluice.Errorf(sluice.Invalid, "base64-invalid", "This is not base64: its padding does not fit its length, so it may be cut off.")
	}
	decoded, err := base64.RawStdEncoding.DecodeString(standardDigits(digits))
	if err != nil {
		var at base64.CorruptInputError
		errors.As(err, &at)
		line, column := position(text, int(at))
		return nil, sluice.Errorf(sluice.Invalid, "base64-invalid", "This is not base64: what stands at line %d, column %d can't be decoded.", line, column)
	}
	if !utf8.Valid(decoded) {
		return nil, sluice.Errorf(sluice.Invalid, "not-text", "The bytes behind this base64 are not UTF-8 text, which is all that values can hold; pass them on as the base64 they are.")
	}
	return string(decoded), nil
}

// standardDigits gives digits of base64 in the standard alphabet.
func standardDigits(digits string) string {
	return strings.ReplaceAll(strings.ReplaceAll(digits, "-", "+"), "_", "/")
}

// padded tells whether so many padding characters may follow the digits.
func padded(digits string, padding int) bool {
	count := len(digits) - strings.Count(digits, "\r") - strings.Count(digits, "\n")
	return padding == 0 || padding <= 2 && (count+padding)%4 == 0
}

func toBase64(input any) (any, error) {
	text, ok := input.(string)
	if !ok {
		encoded, err := encodeJSON(input)
		if err != nil {
			return nil, err
		}
		text = encoded
	}
	if base64.StdEncoding.EncodedLen(len(text)) > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}
