package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"sluice"
	"sluice/command"
)

// may reports whether a user may run a command.
func (p *Portal) may(user sluice.User, name string) bool {
	cmd, ok := p.Commands.Find(name)
	return ok && cmd.Allows(user)
}

// args makes arguments of names and texts in turn. An empty text is left out.
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
func ask[T any](p *Portal, r *http.Request, name string, args command.Args) (answer T, err error) {
	out, err := p.run(r, name, args)
	if err != nil {
		return answer, err
	}
	answer, ok := out.(T)
	if !ok {
		return answer, fmt.Errorf("%s returns a %T, not a %T", name, out, answer)
	}
	return answer, nil
}

// fetch calls a command that lists things, and returns the cursor of the next page.
func fetch[T any](p *Portal, r *http.Request, name string, args command.Args) (items []T, next string, err error) {
	page, err := ask[command.Page[T]](p, r, name, args)
	return page.Items, page.Next, err
}

// document calls a command and returns its answer as JSON, for pages that know
// nothing else of it, with the cursor of the next page if it is a list.
func (p *Portal) document(r *http.Request, name string, args command.Args) (output json.RawMessage, next string, err error) {
	out, err := p.run(r, name, args)
	if err != nil {
		return nil, "", err
	}
	if list, ok := out.(command.Paged); ok {
		out, next = list.Page()
	}
	var content bytes.Buffer
	enc := json.NewEncoder(&content)
	enc.SetEscapeHTML(false) // the templates escape what pages show
	err = enc.Encode(out)
	return content.Bytes(), next, err
}

// read calls a command and reads the document that it answers with.
func read[T any](p *Portal, r *http.Request, name string, args command.Args) (answer T, next string, err error) {
	output, next, err := p.document(r, name, args)
	if err != nil {
		return answer, "", err
	}
	return answer, next, json.Unmarshal(output, &answer)
}

// ignoring returns an error unless it is of one of these kinds.
func ignoring(err error, kinds ...sluice.Kind) error {
	for _, kind := range kinds {
		if err != nil && sluice.AsError(err).Kind == kind {
			return nil
		}
	}
	return err
}

// isMistake reports whether an error is about what a user entered, so that the
// form is shown again with it.
func isMistake(err error) bool {
	switch sluice.AsError(err).Kind {
	case sluice.Internal, sluice.Unauthenticated:
		return false
	}
	return true
}

func argument(name string, value any) command.Arg { return command.Arg{Name: name, Value: value} }
