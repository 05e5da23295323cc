package step

import (
	"context"
	"slices"

	"sluice"
	"sluice/command"
)

// A conversion is a command, and a function of expressions, that makes one
// value of another.
type conversion struct {
	name    string
	summary string
	convert func(input any) (any, error)
}

var conversions = []conversion{
	{"convert.fromBase64", "Decode base64 to the text it stands for, in the standard or the URL alphabet.", fromBase64},
	{"convert.toBase64", "Encode text as base64; another value as the base64 of its JSON.", toBase64},
	{"convert.fromJson", "Read JSON.", fromJSON},
	{"convert.toJson", "Write a value as JSON without spaces.", toJSON},
	{"convert.fromYaml", "Read a YAML document of the values that JSON has too; aliases are refused.", fromYAML},
	{"convert.toYaml", "Write a value as YAML.", toYAML},
}

type convertParams struct {
	Input any `json:"input" body:"default" doc:"What to convert."`
}

func (c conversion) command() command.Command {
	return command.New(c.name, c.summary,
		func(_ context.Context, p convertParams) (any, error) { return c.convert(p.Input) },
		command.Pure)
}

func convertCommands() []command.Command {
	commands := append(make([]command.Command, 0, 2+len(conversions)), fromCSVCommand(), toCSVCommand())
	for _, c := range conversions {
		commands = append(commands, c.command())
	}
	return commands
}

// Functions gives the conversions as functions of expressions, by the names of
// their commands. Each takes the input alone.
func Functions() map[string]func(args ...any) (any, error) {
	functions := map[string]func(args ...any) (any, error){}
	for _, c := range slices.Concat(conversions, []conversion{
		{name: "convert.fromCsv", convert: func(input any) (any, error) { return fromCSV(input, ',', true) }},
		{name: "convert.toCsv", convert: func(input any) (any, error) { return toCSV(input, csvForm{comma: ',', header: true}) }},
	}) {
		functions[c.name] = func(args ...any) (any, error) {
			if len(args) != 1 {
				return nil, sluice.Errorf(sluice.Invalid, "arguments-invalid", "%s takes one argument, not %d.", c.name, len(args))
			}
			return c.convert(args[0])
		}
	}
	return functions
}
