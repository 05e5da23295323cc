package portal

import (
	"bytes"
	"encoding/json"
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

// run calls a command as the signed-in user, and returns its answer as JSON,
// with the cursor of the next page if it is a list.
func (p *Portal) run(r *http.Request, name string, args command.Args) (output json.RawMessage, next string, err error) {
	cmd, ok := p.Commands.Find(name)
	if !ok || cmd.HTTPOnly() {
		return nil, "", sluice.Errorf(sluice.CodeCommandUnknown, "There is no such command.")
	}
	out, err := p.Commands.Call(r.Context(), cmd, args)
	if err != nil {
		return nil, "", err
	}
	if list, ok := out.(command.Paged); ok {
		out, next = list.Page()
	}
	var content bytes.Buffer
	enc := json.NewEncoder(&content)
	enc.SetEscapeHTML(false) // the templates escape what pages show
	if err := enc.Encode(out); err != nil {
		return nil, "", err
	}
	return content.Bytes(), next, nil
}

// fetch calls a command and reads its answer, and returns the cursor of the
// next page if it is a list.
func fetch[T any](p *Portal, r *http.Request, name string, args command.Args) (answer T, next string, err error) {
	output, next, err := p.run(r, name, args)
	if err != nil {
		return answer, "", err
	}
	return answer, next, json.Unmarshal(output, &answer)
}

// ask does the same for an answer that is not a list.
func ask[T any](p *Portal, r *http.Request, name string, args command.Args) (T, error) {
	answer, _, err := fetch[T](p, r, name, args)
	return answer, err
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
