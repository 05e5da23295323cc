package api

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/limit"
)

// pipeline serves the pipelines as a folder of documents: each method is a
// command.
func (a *API) pipeline(w http.ResponseWriter, r *http.Request) error {
	user, leave, err := a.enter(w, r)
	if err != nil {
		return err
	}
	defer leave()
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, sluice.PipelinePath), "/")
	memory := a.Bodies.Known.Hold()
	defer memory.Release()
	cmd, args, err := a.pipelineCall(w, r, name, &memory)
	if err != nil {
		return err
	}
	out, err := a.call(r, user, cmd, args)
	if err != nil {
		return err
	}
	if version, ok := out.(tagged); ok {
		w.Header().Set("ETag", `"`+version.EntityTag()+`"`)
	}
	if doc, ok := out.(document); ok && r.Method == http.MethodGet {
		media, text := doc.Document()
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, text) //nolint:gosec // no browser runs YAML; an error means that the caller has gone
		return nil
	}
	memory.Release() // the arguments have done their work
	return a.answer(w, r, args, out)
}

// pipelineCall returns the command that a request to the pipelines stands for.
func (a *API) pipelineCall(
	w http.ResponseWriter, r *http.Request, name string, memory *limit.Hold,
) (cmd command.Command, args command.Args, err error) {
	verb, ok := map[string]string{
		http.MethodPut: "pipeline.put", http.MethodGet: "pipeline.get", http.MethodDelete: "pipeline.delete",
		http.MethodPost: "pipeline.run",
	}[r.Method]
	switch {
	case name == "" && r.Method != http.MethodPost:
		return cmd, nil, notAllowed("POST")
	case !ok:
		return cmd, nil, notAllowed("PUT, GET, DELETE, POST")
	}
	if cmd, ok = a.Commands.Find(verb); !ok {
		return cmd, nil, notFound(w, r)
	}
	if r.Method == http.MethodPost {
		args, err = a.runArguments(w, r, cmd, name, memory)
		return cmd, args, err
	}
	if args, err = a.arguments(w, r, cmd, memory); err != nil {
		return cmd, nil, err
	}
	if tags := strings.Join(r.Header.Values("If-Match"), ","); tags != "" && r.Method != http.MethodGet {
		args = append(args, command.Arg{Name: "ifMatch", Value: tags})
	}
	return cmd, append(args, command.Arg{Name: "name", Value: name}), nil
}

// runArguments returns the arguments of a run. A stored pipeline gets its variables from
// the query and its body from the request. Without a name, the request's body is the
// pipeline itself.
func (a *API) runArguments(
	w http.ResponseWriter, r *http.Request, cmd command.Command, name string, memory *limit.Hold,
) (command.Args, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, command.MalformedQuery()
	}
	vars := make(map[string]any, len(query))
	for key, values := range query {
		if len(values) > 1 {
			return nil, sluice.CodeParameterConflict.Errorf("The variable %q was given twice; give it once.",
				key).About(key)
		}
		vars[key] = values[0]
	}
	bare := r.Clone(r.Context())
	bare.URL.RawQuery = ""
	if name == "" {
		bare.Header.Set("Content-Type", "text/plain") // whatever type the caller gave it
	}
	args, err := a.arguments(w, bare, cmd, memory)
	if err != nil {
		return nil, err
	}
	args = append(args, command.Arg{Name: "vars", Value: vars})
	if name != "" {
		return append(args, command.Arg{Name: "name", Value: name}), nil
	}
	for i, arg := range args {
		if arg.Name == "body" {
			args[i].Name = "source"
			return args, nil
		}
	}
	return nil, sluice.CodeBodyMissing.Errorf("The body must be a pipeline, in YAML or JSON.")
}
