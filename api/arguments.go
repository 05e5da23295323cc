package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/value"
)

// Bounds on the body of a command's call: one that holds parameters, and one
// that the command takes as its body.
const (
	maxForm      = 64 << 10 // one that the issuer takes
	maxArguments = 1 << 20
	maxBody      = sluice.MaxPayloadLength
	largeBody    = 64 << 10 // takes memory that counts when it is decoded
)

// formType is the content type of a form.
const formType = "application/x-www-form-urlencoded"

// arguments collects a call's arguments from the query, and from a body that is
// a form or a JSON object. A body that is neither, or that the command takes
// whole, is the command's body.
func (a *API) arguments(
	w http.ResponseWriter, r *http.Request, cmd command.Command, memory *limit.Hold,
) (command.Args, error) {
	args, err := formArguments(r.URL.RawQuery)
	if err != nil {
		return nil, command.MalformedQuery()
	}
	longest := maxArguments
	whole, takesBody := cmd.BodyParam()
	if takesBody {
		longest = maxBody
	}
	content, err := a.Bodies.Read(w, r, nil, longest, memory)
	if err != nil || len(bytes.TrimSpace(content)) == 0 {
		return args, err
	}
	if len(content) > largeBody {
		if err := a.Bodies.Grow(r.Context(), memory, int64(value.Footprint(content))); err != nil {
			return nil, err
		}
	}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if takesBody && whole.Body == command.BodyOnly {
		return withBody(args, whole, media, content)
	}
	var more command.Args
	switch {
	case media == formType:
		if more, err = formArguments(string(content)); err != nil {
			return nil, sluice.CodeBodyMalformed.Errorf(
				"The form in the body is malformed; percent-encode what is not a letter or digit.")
		}
	case media == "application/json":
		if more, err = jsonArguments(content); err != nil {
			return nil, err
		}
		more = withoutNull(more, cmd)
	case takesBody:
		return withBody(args, whole, media, content)
	default:
		return nil, sluice.CodeContentTypeUnsupported.Errorf(
			"A command takes its parameters as application/json or application/x-www-form-urlencoded.")
	}
	return append(args, more...), nil
}

// withoutNull removes what counts as not given: null, unless any value will do.
func withoutNull(args command.Args, cmd command.Command) command.Args {
	return slices.DeleteFunc(args, func(arg command.Arg) bool {
		p, err := cmd.Param(arg.Name)
		return arg.Value == nil && (err != nil || p.Type != "")
	})
}

// withBody adds the body of a request as an argument: the value if it is JSON
// and any value will do, otherwise the text.
func withBody(args command.Args, p command.Param, media string, content []byte) (command.Args, error) {
	for _, arg := range args {
		if arg.Name == p.Name && p.Body == command.BodyOnly {
			return nil, sluice.CodeParameterUnknown.Errorf(
				"The parameter %s is the body of the request; it can't be given in the query.", p.Name).About(p.Name)
		}
	}
	if !utf8.Valid(content) {
		return nil, sluice.CodeBodyMalformed.Errorf("The body must be text in UTF-8.")
	}
	var given any = string(content)
	if p.Type == "" && (media == "application/json" || media == "") {
		decoded, err := value.Decode(content)
		_, tooDeep := errors.AsType[*value.Error](err)
		switch {
		case err == nil:
			given = decoded
		case tooDeep:
			return nil, err
		case media != "":
			return nil, sluice.CodeBodyMalformed.Errorf("The body must be one JSON value.")
		}
	}
	return append(args, command.Arg{Name: p.Name, Value: given}), nil
}

func formArguments(form string) (command.Args, error) {
	values, err := url.ParseQuery(form)
	if err != nil {
		return nil, err
	}
	var args command.Args
	for name, given := range values {
		for _, text := range given {
			args = append(args, command.Arg{Name: name, Value: command.Text(text)})
		}
	}
	return args, nil
}

// jsonArguments reads an object. The same name twice is refused, since readers of
// JSON differ in which one counts.
func jsonArguments(content []byte) (args command.Args, err error) {
	seen := make(map[string]bool)
	err = value.Members(content, func(name string, text json.RawMessage) error {
		given, err := value.Decode(text)
		if err == nil && seen[name] {
			err = sluice.CodeParameterConflict.Errorf("The body has the same parameter twice; give it once.").
				About(name)
		}
		seen[name] = true
		args = append(args, command.Arg{Name: name, Value: given})
		return err
	})
	if errors.Is(err, value.ErrNoObject) {
		err = sluice.CodeBodyMalformed.Errorf("The body must be one JSON object.")
	}
	return args, err
}
