package step

import (
	"context"

	"sluice/command"
)

// A conversion is a command and a function of expressions that turns one value into
// another.
type conversion struct {
	name    string
	summary string
	convert func(input any) (any, error)                 // the function; nil: charset is the function
	charset func(input any, charset string) (any, error) // the function of a conversion that takes the charset of its input
	command func(c conversion) command.Command           // may have more parameters
}

var conversions = []conversion{
	{"convert.fromCsv", "Read CSV as a list of objects, or of lists.", nil, func(input any, charset string) (any, error) {
		return fromCSV(input, csvSource{comma: ',', header: true, charset: charset})
	}, fromCSVCommand},
	{"convert.toCsv", "Write a list of objects, or of lists, as CSV. Cells that look like formulas are changed only with safe.", func(input any) (any, error) { return toCSV(input, csvForm{comma: ',', header: true}) }, nil, toCSVCommand},
	{"convert.fromBase64", "Decode base64 to the text it stands for, in the standard or the URL alphabet.", nil, fromBase64, fromBase64Command},
	{"convert.toBase64", "Encode text as base64; another value as the base64 of its JSON.", toBase64, nil, convertCommand},
	{"convert.fromForm", "Read the body of a form, or a query, as an object; a field that occurs several times becomes a list.", fromForm, nil, convertCommand},
	{"convert.toForm", "Write an object as the body of a form; a list becomes one field for each of its items.", toForm, nil, convertCommand},
	{"convert.fromGzip", "Unpack gzip, given as base64, into text, or into base64 if it is not text.", fromGzip, nil, convertCommand},
	{"convert.toGzip", "Pack text, or another value's JSON, with gzip, as base64.", toGzip, nil, convertCommand},
	{"convert.fromJson", "Read JSON.", fromJSON, nil, convertCommand},
	{"convert.toJson", "Write a value as JSON without spaces.", toJSON, nil, convertCommand},
	{"convert.fromXml", "Read XML as an object of elements: each is its text, or an object with its attributes as @name, its elements, and #text. Document types and entities are refused.", fromXML, nil, convertCommand},
	{"convert.toXml", "Write as XML what convert.fromXml reads.", toXML, nil, convertCommand},
	{"convert.fromYaml", "Read a YAML document. Aliases, and values that JSON does not have, are refused.", fromYAML, nil, convertCommand},
	{"convert.toYaml", "Write a value as YAML.", toYAML, nil, convertCommand},
}

type convertParams struct {
	Input any `json:"input" body:"default" doc:"What to convert."`
}

func convertCommand(c conversion) command.Command {
	return command.New(c.name, c.summary,
		func(_ context.Context, p convertParams) (any, error) { return c.convert(p.Input) },
		command.Pure)
}

type fromBase64Params struct {
	Input   any    `json:"input" body:"default" doc:"The base64 to decode."`
	Charset string `json:"charset" doc:"Charset of the text behind it, such as windows-1252 or utf-16le. Default utf-8."`
}

func fromBase64Command(c conversion) command.Command {
	return command.New(c.name, c.summary,
		func(_ context.Context, p fromBase64Params) (any, error) { return fromBase64(p.Input, p.Charset) },
		command.Pure)
}

func convertCommands() []command.Command {
	commands := make([]command.Command, len(conversions))
	for i, c := range conversions {
		commands[i] = c.command(c)
	}
	return commands
}
