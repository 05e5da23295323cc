package api

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"unicode/utf8"

	"sluice"
	"sluice/command"
)

// Bounds on the body of a command's call: one that holds parameters, and one
// that the command takes as its body.
const (
	maxArguments = 1 << 20
	maxBody      = sluice.MaxPayloadLength
)

// arguments collects a call's arguments from the query, and from a body that is
// a form or a JSON object. A body that is neither, or that the command takes
// whole, is the command's body.
func (a *API) arguments(w http.ResponseWriter, r *http.Request, cmd command.Command) (command.Args, error) {
	args, err := formArguments(r.URL.RawQuery)
	if err != nil {
		return nil, command.MalformedQuery()
	}
	limit := maxArguments
	whole, takesBody := cmd.BodyParam()
	if takesBody {
		limit = maxBody
	}
	release, err := a.Budget.Reserve(r, limit)
	if err != nil {
		return nil, err
	}
	defer release()
	content, err := a.Pace.Read(w, r, nil, limit)
	if err != nil || len(bytes.TrimSpace(content)) == 0 {
		return args, err
	}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if takesBody && whole.Body == command.BodyOnly {
		return withBody(args, whole, media, content)
	}
	var more command.Args
	switch {
	case media == "application/x-www-form-urlencoded":
		if more, err = formArguments(string(content)); err != nil {
			return nil, sluice.Errorf(sluice.Invalid, "body-malformed", "The form in the body is malformed; percent-encode what is not a letter or digit.")
		}
	case media == "application/json":
		if more, err = jsonArguments(content); err != nil {
			return nil, err
		}
	case takesBody:
		return withBody(args, whole, media, content)
	default:
		return nil, sluice.Errorf(sluice.Unsupported, "content-type-unsupported", "A command takes its parameters as application/json or application/x-www-form-urlencoded.")
	}
	return append(args, more...), nil
}

// withBody adds the body of a request as an argument: the value if it is JSON
// and any value will do, else the text.
func withBody(args command.Args, p command.Param, media string, content []byte) (command.Args, error) {
	for _, arg := range args {
		if arg.Name == p.Name && p.Body == command.BodyOnly {
			return nil, sluice.Errorf(sluice.Invalid, "parameter-unknown", "The parameter %s is the body of the request; it can't be given in the query.", p.Name).About(p.Name)
		}
	}
	if !utf8.Valid(content) {
		return nil, sluice.Errorf(sluice.Invalid, "body-malformed", "The body must be text in UTF-8.")
	}
	var value any = string(content)
	if p.Type == "" && (media == "application/json" || media == "") {
		parsed, err := sluice.DecodeJSON(content)
		if err != nil && media != "" {
			return nil, sluice.Errorf(sluice.Invalid, "body-malformed", "The body must be one JSON value.")
		}
		if err == nil {
			value = parsed
		}
	}
	return append(args, command.Arg{Name: p.Name, Value: value}), nil
}

func formArguments(form string) (command.Args, error) {
	values, err := url.ParseQuery(form)
	if err != nil {
		return nil, err
	}
	var args command.Args
	for name, given := range values {
		for _, value := range given {
			args = append(args, command.Arg{Name: name, Value: command.Text(value)})
		}
	}
	return args, nil
}

// jsonArguments reads an object. A null stands for a parameter not given; the
// same name twice is refused, since readers of JSON differ in which one counts.
func jsonArguments(content []byte) (command.Args, error) {
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	malformed := sluice.Errorf(sluice.Invalid, "body-malformed", "The body must be one JSON object.")
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, malformed
	}
	var args command.Args
	seen := make(map[string]bool)
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, malformed
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, malformed
		}
		if seen[name] {
			return nil, sluice.Errorf(sluice.Invalid, "parameter-conflict", "The body has the same parameter twice; give it once.").About(name)
		}
		seen[name] = true
		if value != nil {
			args = append(args, command.Arg{Name: name, Value: value})
		}
	}
	if _, err := dec.Token(); err != nil || dec.More() {
		return nil, malformed
	}
	return args, nil
}
