package step

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/emmansun/base64"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/value"
)

// conversions are commands and functions of expressions that turn one value into another.
var conversions = []struct {
	name    string
	summary string
	convert func(input any) (any, error)
}{
	{"convert.toBase64", "Encode text as base64; another value as the base64 of its JSON.", toBase64},
	{"convert.fromForm",
		"Read the body of a form, or a query, as an object; a field that occurs several times becomes a list.",
		fromForm},
	{"convert.toForm", "Write an object as the body of a form; a list becomes one field for each of its items.",
		toForm},
	{"convert.fromGzip", "Unpack gzip, given as base64, into text, or into base64 if it is not text.", fromGzip},
	{"convert.toGzip", "Pack text, or another value's JSON, with gzip, as base64.", toGzip},
	{"convert.fromJson", "Read JSON.", fromJSON},
	{"convert.toJson", "Write a value as JSON without spaces.",
		func(input any) (any, error) { return encodeJSON(input) }},
	{"convert.toXml", "Write as XML what convert.fromXml reads.", toXML},
	{"convert.fromYaml", "Read a YAML document. Aliases, and values that JSON does not have, are refused.", fromYAML},
	{"convert.toYaml", "Write a value as YAML.", toYAML},
}

type convertParams struct {
	Input any `json:"input" body:"default" doc:"What to convert."`
}

// convertCommands returns the conversions. Four of them have more parameters.
func convertCommands() []command.Command {
	commands := make([]command.Command, 0, len(conversions)+4)
	commands = append(commands,
		command.New("convert.fromCsv", "Read CSV as a list of objects, or of lists.", fromCSV, command.Pure),
		command.New("convert.toCsv", "Write a list of objects, or of lists, as CSV. Cells that look like formulas are "+
			"changed only with safe.", toCSV, command.Pure),
		command.New("convert.fromBase64",
			"Decode base64 to the text it stands for, in the standard or the URL alphabet.",
			func(_ context.Context, p fromBase64Params) (any, error) { return fromBase64(p.Input, p.Charset) },
			command.Pure),
		command.New("convert.fromXml", "Read XML as an object of elements: each is its text, or an object with its "+
			"attributes as @name, its elements, and #text. Document types and entities are refused.",
			func(_ context.Context, p fromXMLParams) (any, error) { return fromXML(p.Input, p.Lists) }, command.Pure))
	for _, c := range conversions {
		commands = append(commands, command.New(c.name, c.summary,
			func(_ context.Context, p convertParams) (any, error) { return c.convert(p.Input) }, command.Pure))
	}
	return commands
}

type fromBase64Params struct {
	Input   any    `json:"input" body:"default" doc:"The base64 to decode."`
	Charset string `json:"charset" doc:"Charset of the text behind it, such as windows-1252 or utf-16le. Default utf-8."`
}

func fromJSON(input any) (any, error) {
	text, err := textOf(input, value.MaxSize)
	if err != nil {
		return nil, err
	}
	decoded, err := decodeJSON(text)
	if err == nil {
		return decoded, nil
	}
	return nil, cmp.Or(refuseBase64(text, "JSON", `{["`), err)
}

// decodeJSON decodes JSON within the limits of values.
func decodeJSON(text string) (any, error) {
	if _, values := value.Inspect(text); values > value.MaxValues {
		return nil, value.TooManyValues()
	}
	decoded, err := value.Decode(text)
	if err != nil {
		return nil, jsonError(text, err)
	}
	return decoded, weigh(decoded)
}

func jsonError(text string, err error) error {
	if refused, ok := errors.AsType[*value.Error](err); ok {
		return refused
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return sluice.CodeJSONInvalid.Errorf("This is not JSON: it ends too early.")
	}
	why, offset := syntax.Error(), int(syntax.Offset)-1
	if why == "" {
		why, offset = "something follows the value", int(syntax.Offset)
	}
	line, column := value.Position(text, offset)
	return sluice.CodeJSONInvalid.Errorf("This is not JSON: line %d, column %d: %s.", line, column, why)
}

func encodeJSON(v any) (string, error) {
	text, err := value.AppendJSON(nil, v, value.MaxSize)
	return string(text), err
}

// weigh refuses a value that is past the limits.
func weigh(v any) error { return new(value.Scale).Add(v) }

// fromBase64 returns the text that base64 stands for, in a charset; "" is UTF-8.
func fromBase64(input any, charset string) (string, error) {
	decoded, err := decodeBase64(input)
	switch {
	case err != nil:
		return "", err
	case charset != "":
		return decodeCharset(decoded, charset)
	case !utf8.Valid(decoded):
		return "", sluice.CodeNotText.Errorf("The bytes behind this base64 are not UTF-8 text. Name their " +
			"charset, such as windows-1252, or pass them on as the base64 they are.")
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
		return nil, sluice.CodeBase64Invalid.Errorf(
			"This is not base64: its padding does not fit its length, so it may be cut off.")
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(digits))
	if err != nil {
		var at base64.CorruptInputError
		errors.As(err, &at)
		line, column := value.Position(text, int(at))
		return nil, sluice.CodeBase64Invalid.Errorf(
			"This is not base64: what stands at line %d, column %d can't be decoded.", line, column)
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
	return sluice.CodeBase64Given.Errorf("This is base64, where %s is wanted: decode it with "+
		"convert.fromBase64 first, which takes the charset of bytes that are not UTF-8.", format)
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

// fromGzip unpacks gzip in base64 to text, or to base64 if it is no text. It stops at the
// limit: a few bytes can unpack to more memory than any machine has.
func fromGzip(input any) (any, error) {
	packed, err := decodeBase64(input)
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, gzipError(err)
	}
	unpacked, err := limit.ReadAll(reader, value.MaxSize)
	switch {
	case errors.Is(err, limit.ErrTooLong):
		return nil, value.TooLarge(value.MaxSize)
	case err != nil:
		return nil, gzipError(err)
	case !utf8.Valid(unpacked):
		return encodeBase64(unpacked)
	}
	return string(unpacked), nil
}

func gzipError(err error) error {
	why := "its bytes are damaged, or something follows them"
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		why = "it ends too early"
	case errors.Is(err, gzip.ErrChecksum):
		why = "its checksum does not match"
	}
	return sluice.CodeGzipInvalid.Errorf("This is not gzip: %s.", why)
}

// toGzip packs text, or another value's JSON, and returns it as base64.
func toGzip(input any) (any, error) {
	text, err := textOrJSON(input)
	if err != nil {
		return nil, err
	}
	if len(text) > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err = io.WriteString(writer, text)
	if err = errors.Join(err, writer.Close()); err != nil {
		return nil, err
	}
	return encodeBase64(packed.Bytes())
}

// textIn returns an input that must be text in some format.
func textIn(input any, limit int, format, marks string) (string, error) {
	text, err := textOf(input, limit)
	if err == nil {
		err = refuseBase64(text, format, marks)
	}
	return text, err
}

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

// decodeCharset decodes bytes in a charset, named as in browsers.
func decodeCharset(bytes []byte, charset string) (string, error) {
	charset = strings.TrimSpace(charset)
	known, err := htmlindex.Get(charset)
	if err != nil || known == encoding.Replacement { // the latter stands for charsets that browsers refuse
		return "", invalid("charset",
			"must be the name of a charset, such as utf-8, windows-1252, iso-8859-15, utf-16le or shift_jis")
	}
	decoded, err := known.NewDecoder().Bytes(bytes)
	//nolint:mirror // bytes is the parameter here
	if err != nil || strings.ContainsRune(string(decoded), utf8.RuneError) {
		return "", sluice.CodeNotText.Errorf(
			"Some of the bytes stand for nothing in the charset %s; they may be of another one.",
			strings.ToLower(charset))
	}
	if len(decoded) > value.MaxSize {
		return "", value.TooLarge(value.MaxSize)
	}
	return strings.TrimPrefix(string(decoded), "\ufeff"), nil // a byte order mark
}
