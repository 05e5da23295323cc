package expression

import (
	"encoding/base64"
	"errors"
	"unicode/utf8"

	"sluice/value"
)

// formatFunctions has the functions that write values as text, and read them from it.
var formatFunctions = []declaration{
	{
		"string(value): its form within text: null as nothing, lists and objects as JSON",
		"any", func(f *frame, args []any) any { return f.asText(args[0]) },
	},
	{"toJSON(value): the value as compact JSON", "any", func(f *frame, args []any) any { return f.asJSON(args[0]) }},
	{"fromJSON(text): the value that the JSON stands for", "text", fromJSON},
	{"toBase64(text): the text in base64", "text", toBase64},
	{"fromBase64(text): the text that the base64 stands for", "text", fromBase64},
}

func fromJSON(f *frame, args []any) any {
	text := args[0].(string)
	_, values := value.Inspect(text)
	const bytesPerValue = 300 // the worst case: an object of one member
	f.makeItems(values - 1)
	f.allocate((values - 1) * bytesPerValue)
	const bytesPerDecoder = 1 << 10
	f.makeText(len(text) + bytesPerDecoder)
	decoded, err := value.Decode(text)
	if _, limited := errors.AsType[*value.Error](err); err != nil && !limited {
		fail("the text is not JSON")
	}
	check(err)
	return decoded
}

func toBase64(f *frame, args []any) any {
	s := args[0].(string)
	f.makeText(base64.StdEncoding.EncodedLen(len(s)))
	return base64.StdEncoding.EncodeToString([]byte(s))
}

func fromBase64(f *frame, args []any) any {
	s := args[0].(string)
	f.makeText(base64.StdEncoding.DecodedLen(len(s)))
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		fail("the text is not base64")
	}
	if !utf8.Valid(b) {
		fail("the base64 holds bytes that are no text in UTF-8")
	}
	return string(b)
}
