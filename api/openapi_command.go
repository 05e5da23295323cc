package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice/command"
)

// command describes a command, called by a method. Callers may mix parameters in the
// query, a form and a JSON object. The description has one way for each method: JSON with
// POST, and the query with GET or beside a body that the command takes whole.
func (d *description) command(cmd command.Command, method string) object {
	group := cmd.Group()
	d.groups[group] = "The commands " + group + ".*"
	op := object{
		"operationId": operationID(cmd, method),
		"summary":     cmd.Summary,
		"description": about(cmd, method),
		"tags":        []string{group},
		"responses":   d.answers(cmd),
		"security":    []object{},
	}
	if cmd.Endpoint == nil {
		op["security"], op["x-permission"] = d.ways, cmd.Name
	}
	switch whole, takesBody := cmd.BodyParam(); {
	case method == "get" || method == "delete" || cmd.Endpoint != nil:
		op["parameters"] = query(cmd)
	case takesBody && whole.Body == command.BodyOnly:
		op["parameters"] = query(cmd)
		op["requestBody"] = object{
			"description": whole.Doc, "required": whole.Required, "content": wholeBody(whole),
			"x-parameter": whole.Name,
		}
	case len(cmd.Params) > 0:
		op["requestBody"] = d.body(cmd)
	}
	return op
}

// operationID returns the name of an operation in programs: webhookPut. What GET
// does has the plain name.
func operationID(cmd command.Command, method string) string {
	words := strings.Split(cmd.Name, ".")
	for i := range words[1:] {
		words[i+1] = command.Capital(words[i+1])
	}
	id := strings.Join(words, "")
	if method == "post" && (cmd.ReadOnly || cmd.Endpoint != nil) {
		id += "ByPost"
	}
	return id
}

// about says what programs should know of an operation.
func about(cmd command.Command, method string) string {
	text := cmd.Summary
	switch {
	case cmd.Endpoint != nil:
		text += " The token is the authorization, in the query, in a header or in the body."
	case cmd.InRun || cmd.Trigger:
		text += " A step of pipelines: by itself it is refused."
	default:
		text += " Needs the permission " + cmd.Name + "."
	}
	if whole, takesBody := cmd.BodyParam(); takesBody && whole.Body != command.BodyOnly && method == "post" {
		text += " A body that is neither JSON nor a form is the parameter " + whole.Name + "."
	}
	return text
}

// paramSchema returns the JSON Schema of a parameter.
func paramSchema(p command.Param) object {
	schema := object{}
	if p.Type != "" {
		schema["type"] = p.Type
	}
	if p.Type == "array" {
		schema["items"] = object{"type": "string"}
	}
	if p.Time {
		schema["format"] = "date-time"
	}
	if p.Enum != nil {
		schema["enum"] = p.Enum
	}
	if p.Min != nil {
		schema["minimum"] = *p.Min
	}
	if p.Max != nil {
		schema["maximum"] = *p.Max
	}
	return schema
}

// query describes the parameters as those of a URL.
func query(cmd command.Command) []object {
	params := make([]object, 0, len(cmd.Params))
	for _, p := range cmd.Params {
		if p.Body == command.BodyOnly {
			continue
		}
		described := object{"name": p.Name, "in": "query", "description": p.Doc}
		if p.Required && cmd.Endpoint == nil { // which has other places for it
			described["required"] = true
		}
		if p.Alias != "" {
			described["x-alias"] = p.Alias
		}
		switch p.Type {
		case "array": // separated by commas, since a name may come once
			described["schema"], described["style"], described["explode"] = paramSchema(p), "form", false
		case "object", "":
			described["content"] = object{"application/json": object{"schema": paramSchema(p)}}
		default:
			described["schema"] = paramSchema(p)
		}
		params = append(params, described)
	}
	return params
}

// wholeBody describes a body that a command takes whole: any value, or a text
// that may be JSON itself.
func wholeBody(p command.Param) object {
	if p.Type == "" {
		return object{
			"application/json": object{"schema": object{}}, "text/plain": object{"schema": object{"type": "string"}},
		}
	}
	return object{
		"application/yaml": object{"schema": object{}}, "application/json": object{"schema": object{"type": "object"}},
	}
}

// parameters returns the schema of the parameters as a JSON object.
func parameters(cmd command.Command) object {
	properties := object{}
	var required []string
	for i, p := range cmd.Params {
		schema := paramSchema(p)
		schema["description"], schema["x-order"] = p.Doc, i
		if p.Alias != "" {
			schema["x-alias"] = p.Alias
		}
		properties[p.Name] = schema
		if p.Required {
			required = append(required, p.Name)
		}
	}
	return command.ObjectSchema(properties, required)
}

// body describes the parameters as a JSON object, or as a form.
func (d *description) body(cmd command.Command) object {
	name, schema := command.Capital(operationID(cmd, ""))+"Parameters", parameters(cmd)
	d.schemas.Named[name] = schema
	body := object{"required": schema["required"] != nil, "content": object{
		"application/json":                  object{"schema": command.Ref(name)},
		"application/x-www-form-urlencoded": object{"schema": command.Ref(name)},
	}}
	if whole, takesBody := cmd.BodyParam(); takesBody {
		body["description"], body["x-parameter"] = whole.Doc, whole.Name
	}
	return body
}

func (d *description) answers(cmd command.Command) object {
	about, media, schema := "What the command answers with.", "application/json", object{}
	switch {
	case cmd.Download:
		media = "application/octet-stream"
	case len(cmd.Results) == 1:
		schema = d.schemas.Of(cmd.Results[0])
	case len(cmd.Results) > 1: // one by its name, or the list of all
		alternatives := make([]object, len(cmd.Results))
		for i, t := range cmd.Results {
			alternatives[i] = d.schemas.Of(t)
		}
		about, schema = "The list, or the one that was asked for.", object{"oneOf": alternatives}
	}
	example := cmd.Example()
	if example.Gives != "" {
		about = "Gives " + example.Gives
	}
	body := object{"schema": schema}
	if example.Answer != "" {
		body["example"] = json.RawMessage(example.Answer)
	}
	ok := object{"description": about, "content": object{media: body}}
	isAfter := func(p command.Param) bool { return p.Name == "after" }
	if len(cmd.Results) > 1 && slices.ContainsFunc(cmd.Params, isAfter) {
		ok["headers"] = object{"Link": object{
			"description": "The next page of the list, if there is one.", "schema": object{"type": "string"},
		}}
	}
	return responses(ok)
}

// adapt describes the operations that are a command in another form. Without the command there
// are none.
func (d *description) adapt(set command.Set, paths object) {
	for path, operations := range paths {
		for method, said := range operations.(object) {
			name, adapted := said.(object)["x-command"].(string)
			if !adapted {
				continue
			}
			cmd, known := set.Find(name)
			if !known {
				delete(paths, path)
				break
			}
			op := d.command(cmd, method)
			maps.Copy(op, said.(object))
			delete(op, "x-command")
			if params, _ := op["parameters"].([]any); len(params) > 0 {
				op["parameters"] = slices.Concat(params, documentParameters(cmd))
			}
			operations.(object)[method] = op
		}
	}
}

// documentParameters are the parameters of a request to one pipeline besides its name.
func documentParameters(cmd command.Command) (params []any) {
	for _, p := range query(cmd) {
		switch p["name"] {
		case "ifMatch":
			p["name"], p["in"] = "If-Match", "header"
			params = append(params, p)
		case "force", "version":
			params = append(params, p)
		}
	}
	return params
}
