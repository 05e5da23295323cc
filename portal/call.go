package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// allows reports whether the signed-in user may run a command.
func (p *Portal) allows(r *http.Request, name string) bool {
	return p.may(sluice.UserFrom(r.Context()), name)
}

// may reports whether a user may run a command.
func (p *Portal) may(user sluice.User, name string) bool {
	cmd, ok := p.Commands.Find(name)
	return ok && cmd.Allows(user)
}

// args makes arguments of pairs of name and text. It leaves out empty texts.
func args(pairs ...string) command.Args {
	var all command.Args
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, command.Arg{Name: pairs[i], Value: command.Text(pairs[i+1])})
		}
	}
	return all
}

// run calls a command as the signed-in user.
func (p *Portal) run(r *http.Request, name string, args command.Args) (any, error) {
	cmd, ok := p.Commands.Find(name)
	if !ok || cmd.HTTPOnly() {
		return nil, sluice.Errorf(sluice.CodeCommandUnknown, "There is no such command.")
	}
	return p.Commands.Call(r.Context(), cmd, args)
}

// ask calls a command that returns a T.
func ask[T any](p *Portal, r *http.Request, name string, args command.Args) (output T, err error) {
	out, err := p.run(r, name, args)
	if err != nil {
		return output, err
	}
	output, ok := out.(T)
	if !ok {
		return output, fmt.Errorf("%s returns a %T, not a %T", name, out, output)
	}
	return output, nil
}

// askIfAllowed asks if the user may; others get nothing.
func askIfAllowed[T any](p *Portal, r *http.Request, name string, args command.Args) (output T, err error) {
	if !p.allows(r, name) {
		return output, nil
	}
	return ask[T](p, r, name, args)
}

// fetch calls a command that lists things, and returns the cursor of the next page.
func fetch[T any](p *Portal, r *http.Request, name string, args command.Args) (items []T, next string, err error) {
	page, err := ask[command.Page[T]](p, r, name, args)
	return page.Items, page.Next, err
}

// document calls any command and returns its output as JSON. A list has the cursor
// of its next page.
func (p *Portal) document(r *http.Request, name string, args command.Args) (output json.RawMessage, next string, err error) {
	out, err := p.run(r, name, args)
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

// read calls a command and decodes its output from JSON.
func read[T any](p *Portal, r *http.Request, name string, args command.Args) (value T, next string, err error) {
	output, next, err := p.document(r, name, args)
	if err != nil {
		return value, "", err
	}
	return value, next, json.Unmarshal(output, &value)
}

// ignoring returns err, or nil if it is of one of these kinds.
func ignoring(err error, kinds ...sluice.Kind) error {
	if err != nil && slices.Contains(kinds, sluice.AsError(err).Kind) {
		return nil
	}
	return err
}

// isMistake reports whether a form shows an error itself, for the user to try again.
func isMistake(err error) bool {
	kind := sluice.AsError(err).Kind
	return kind != sluice.Internal && kind != sluice.Unauthenticated
}

func argument(name string, value any) command.Arg { return command.Arg{Name: name, Value: value} }

func text(value any) string {
	s, _ := value.(string)
	return s
}

func strs(value any) (texts []string) {
	for _, item := range list(value) {
		texts = append(texts, text(item))
	}
	return texts
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

// mayTry reports whether a user may try drafts, which reveals payloads.
func (p *Portal) mayTry(user sluice.User) bool {
	return p.may(user, "pipeline.try") && user.May(sluice.MaySeePayload)
}
