package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// May reports whether the user may run a command.
func (v *Visit) May(name string) bool { return v.Allows(v.User, name) }

// Allows reports whether a user may run a command.
func (s *Site) Allows(user sluice.User, name string) bool {
	cmd, ok := s.Commands.Find(name)
	return ok && cmd.Allows(user)
}

// Args makes arguments of pairs of name and value, and of other arguments. It leaves out empty texts.
func Args(given ...any) (all command.Args) {
	for len(given) > 0 {
		name, isName := given[0].(string)
		if !isName {
			all, given = append(all, given[0].(command.Args)...), given[1:]
			continue
		}
		value := given[1]
		given = given[2:]
		text, isText := value.(string)
		if isText {
			value = command.Text(text)
		}
		if !isText || text != "" {
			all = append(all, command.Arg{Name: name, Value: value})
		}
	}
	return all
}

// Fail lets the page fail, unless there is no error. The first error is the answer, whatever the page does then: it
// runs no command any more, and shows nothing.
func (v *Visit) Fail(err error) { v.failed = cmp.Or(v.failed, err) }

// Failed reports whether the page has failed.
func (v *Visit) Failed() bool { return v.failed != nil }

// Run calls a command as the signed-in user.
func (v *Visit) Run(name string, given ...any) (any, error) {
	cmd, ok := v.Commands.Find(name)
	switch {
	case v.failed != nil:
		return nil, v.failed
	case !ok || cmd.HTTPOnly():
		return nil, sluice.CodeCommandUnknown.Errorf("There is no such command.")
	}
	return v.Commands.Call(v.R.Context(), cmd, Args(given...))
}

// Ask calls a command that returns a T, and that the page can't do without: if it fails, so does the page.
func Ask[T any](v *Visit, name string, given ...any) T {
	output, err := Try[T](v, name, given...)
	v.Fail(err)
	return output
}

// Try calls a command that returns a T, or a page of a list that is a T, and that may fail.
func Try[T any](v *Visit, name string, given ...any) (output T, err error) {
	out, err := v.Run(name, given...)
	if err != nil {
		return output, err
	}
	output, ok := out.(T)
	if list, isList := out.(command.Paged); isList && !ok {
		out, _ = list.Page()
		output, ok = out.(T)
	}
	if !ok {
		return output, fmt.Errorf("%s returns a %T, not a %T", name, out, output)
	}
	return output, nil
}

// AskIfAllowed asks if the user may; others get nothing.
func AskIfAllowed[T any](v *Visit, name string, given ...any) (output T) {
	if v.May(name) {
		output = Ask[T](v, name, given...)
	}
	return output
}

// Glance asks for what a page can do without, if the user may.
func Glance[T any](v *Visit, name string, given ...any) (output T) {
	if v.May(name) {
		output, _ = Try[T](v, name, given...)
	}
	return output
}

// Document calls any command and returns its output as JSON. A list has the cursor
// of its next page.
func (v *Visit) Document(name string, given ...any) (output json.RawMessage, next string, err error) {
	out, err := v.Run(name, given...)
	if err != nil {
		return nil, "", err
	}
	if list, ok := out.(command.Paged); ok {
		out, next = list.Page()
	}
	var content bytes.Buffer
	err = value.Encode(&content, out) // the templates escape what pages show
	return content.Bytes(), next, err
}

// Ignoring returns err, or nil if it is of one of these kinds.
func Ignoring(err error, kinds ...sluice.Kind) error {
	if err != nil && slices.Contains(kinds, sluice.AsError(err).Kind) {
		return nil
	}
	return err
}
