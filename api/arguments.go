package api

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"

	"sluice"
	"sluice/command"
)

// maxArguments bounds the body of a command's call.
const maxArguments = 1 << 20

// arguments collects a call's arguments from the query, a form body, or a JSON
// object body. Which of them a command takes is the command's business.
func (a *API) arguments(w http.ResponseWriter, r *http.Request) (command.Args, error) {
	args, err := formArguments(r.URL.RawQuery)
	if err != nil {
		return nil, sluice.Errorf(sluice.Invalid, "query-malformed", "The query of the URL is malformed; percent-encode what is not a letter or digit.")
	}
	release, err := a.Budget.Reserve(r, maxArguments)
	if err != nil {
		return nil, err
	}
	defer release()
	content, err := a.Pace.Read(w, r, nil, maxArguments)
	if err != nil || len(bytes.TrimSpace(content)) == 0 {
		return args, err
	}
	var more command.Args
	switch media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media {
	case "application/x-www-form-urlencoded":
		if more, err = formArguments(string(content)); err != nil {
			return nil, sluice.Errorf(sluice.Invalid, "body-malformed", "The form in the body is malformed; percent-encode what is not a letter or digit.")
		}
	case "application/json":
		if more, err = jsonArguments(content); err != nil {
			return nil, err
		}
	default:
		return nil, sluice.Errorf(sluice.Unsupported, "content-type-unsupported", "A command takes its parameters as application/json or application/x-www-form-urlencoded.")
	}
	return append(args, more...), nil
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
			e := sluice.Errorf(sluice.Invalid, "parameter-conflict", "The body has the same parameter twice; give it once.")
			e.Parameter = name
			return nil, e
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
