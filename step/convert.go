package step

import (
	"context"

	"sluice"
	"sluice/command"
)

// A conversion is a command, and a function of expressions, that makes one
// value of another.
type conversion struct {
	name    string
	summary string
	convert func(input any) (any, error)       // the function
	command func(c conversion) command.Command // may take more than the input
}

var conversions = []conversion{
	{"convert.fromCsv", "Read CSV as a list of objects, or of lists.", func(input any) (any, error) { return fromCSV(input, ',', true) }, fromCSVCommand},
	{"convert.toCsv", "Write a list of objects, or of lists, as CSV. Cells that look like formulas are changed only with safe.", func(input any) (any, error) { return toCSV(input, csvForm{comma: ',', header: true}) }, toCSVCommand},
	{"convert.fromBase64", "Decode base64 to the text it stands for, in the standard or the URL alphabet.", fromBase64, convertCommand},
	{"convert.toBase64", "Encode text as base64; another value as the base64 of its JSON.", toBase64, convertCommand},
	{"convert.fromJson", "Read JSON.", fromJSON, convertCommand},
	{"convert.toJson", "Write a value as JSON without spaces.", toJSON, convertCommand},
	{"convert.fromYaml", "Read a YAML document of the values that JSON has too; aliases are refused.", fromYAML, convertCommand},
	{"convert.toYaml", "Write a value as YAML.", toYAML, convertCommand},
}

type convertParams struct {
	Input any `json:"input" body:"default" doc:"What to convert."`
}

func convertCommand(c conversion) command.Command {
	return command.New(c.name, c.summary,
		func(_ context.Context, p convertParams) (any, error) { return c.convert(p.Input) },
		command.Pure)
}

func convertCommands() []command.Command {
	commands := make([]command.Command, len(conversions))
	for i, c := range conversions {
		commands[i] = c.command(c)
	}
	return commands
}

// Functions gives the conversions as functions of expressions, by the names of
// their commands. Each takes the input alone. Errors are of type *sluice.Error.
func Functions() map[string]func(args ...any) (any, error) {
	functions := make(map[string]func(args ...any) (any, error), len(conversions))
	for _, c := range conversions {
		functions[c.name] = func(args ...any) (any, error) {
			if len(args) != 1 {
				return nil, sluice.Errorf(sluice.Invalid, "arguments-invalid", "%s takes one argument, not %d.", c.name, len(args))
			}
			converted, err := c.convert(args[0])
			if err != nil {
				return nil, sluice.AsError(err)
			}
			return converted, nil
		}
	}
	return functions
}
