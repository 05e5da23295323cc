package step

import (
	"context"

	"sluice"
	"sluice/value"
)

// A function can be called by expressions.
type function struct {
	least, most int // number of arguments
	call        func(args []any) (any, error)
}

// Functions returns the functions for expressions: the conversions, crypto.hash and
// crypto.hmac, named as their commands, and crypto.equal. A conversion takes its input,
// and a charset or lists if the command has them. Errors are of type *sluice.Error.
func Functions() map[string]func(args ...any) (any, error) {
	all := map[string]function{
		"crypto.hash":  {1, 3, hashFunction},
		"crypto.hmac":  {2, 4, hmacFunction},
		"crypto.equal": {2, 2, equalFunction},
		"convert.toCsv": {1, 1, func(args []any) (any, error) {
			return toCSV(context.Background(), toCSVParams{Input: args[0]})
		}},
		"convert.fromCsv": {1, 2, func(args []any) (any, error) {
			charset, err := optional(args, 1, "charset")
			if err != nil {
				return nil, err
			}
			return fromCSV(context.Background(), fromCSVParams{Input: args[0], Charset: charset})
		}},
		"convert.fromBase64": {1, 2, func(args []any) (any, error) {
			charset, err := optional(args, 1, "charset")
			if err != nil {
				return nil, err
			}
			return fromBase64(args[0], charset)
		}},
		"convert.fromXml": {1, 2, func(args []any) (any, error) {
			if len(args) == 1 {
				return fromXML(args[0], nil)
			}
			lists, err := names(args[1])
			if err != nil {
				return nil, err
			}
			return fromXML(args[0], lists)
		}},
	}
	for _, c := range conversions {
		all[c.name] = function{1, 1, func(args []any) (any, error) { return c.convert(args[0]) }}
	}
	functions := make(map[string]func(args ...any) (any, error), len(all))
	for name, f := range all {
		functions[name] = func(args ...any) (any, error) {
			if len(args) < f.least || len(args) > f.most {
				return nil, sluice.CodeArgumentsInvalid.Errorf("%s takes %s, not %d.", name, f.takes(),
					len(args))
			}
			out, err := f.call(args)
			if err != nil {
				return nil, sluice.AsError(err)
			}
			return out, nil
		}
	}
	return functions
}

// takes says how many arguments a function takes.
func (f function) takes() string {
	numbers := [...]string{"no", "one", "two", "three", "four"}
	switch {
	case f.least != f.most:
		return numbers[f.least] + " to " + numbers[f.most] + " arguments"
	case f.least == 1:
		return "one argument"
	}
	return numbers[f.least] + " arguments"
}

// optional returns the text argument at an index, "" if there is none.
func optional(args []any, index int, name string) (string, error) {
	if index >= len(args) || args[index] == nil {
		return "", nil
	}
	text, ok := args[index].(string)
	if !ok {
		return "", invalid(name, "must be text, not %s", value.Describe(args[index]))
	}
	return text, nil
}

// names returns the names of elements that are lists.
func names(given any) (lists []string, err error) {
	items, ok := given.([]any)
	for _, item := range items {
		name, isText := item.(string)
		lists, ok = append(lists, name), ok && isText
	}
	if !ok {
		return nil, invalid("lists", "must be a list of names, not %s", value.Describe(given))
	}
	return lists, nil
}
