package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"sluice"
	"sluice/command"
)

// object is a piece of a JSON document.
type object = map[string]any

// openAPI returns the endpoint that describes the API. The commands don't
// change while the service runs, so the document is made and compressed once:
// anyone may ask for it, as often as they like.
func (a *API) openAPI() command.Endpoint {
	document, err := json.MarshalIndent(OpenAPI(a.Commands, a.Version, a.BaseURL, a.OpenID), "", "  ")
	zipped := zip(document)
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return notAllowed("GET, HEAD")
		}
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		if takesGzip(r.Header.Values("Accept-Encoding")) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped)
			return nil
		}
		_, _ = w.Write(document)
		return nil
	}
}

// OpenAPI describes the commands and the other endpoints as OpenAPI 3.1. openID
// is where the issuer of access tokens describes itself.
func OpenAPI(set command.Set, version, baseURL, openID string) map[string]any {
	paths := object{
		sluice.ResultPath: object{"get": resultOperation()},
		sluice.EventsPath: object{"get": eventsOperation()},
		sluice.HealthPath: object{"get": healthOperation("healthz", "Tell that the process runs.")},
		sluice.ReadyPath:  object{"get": healthOperation("readyz", "Tell whether calls are welcome.")},
	}
	describePipelines(set, paths)
	for _, cmd := range set.All() {
		operations := object{"post": commandOperation(cmd, "post")}
		if cmd.ReadOnly || cmd.Endpoint != nil {
			operations["get"] = commandOperation(cmd, "get")
		}
		paths[sluice.CommandPath+cmd.Name] = operations
	}
	schemes := object{
		"basic":  object{"type": "http", "scheme": "basic"},
		"bearer": object{"type": "http", "scheme": "bearer"},
	}
	if openID != "" {
		schemes["openid"] = object{"type": "openIdConnect", "openIdConnectUrl": openID}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "sluice",
			"version":     version,
			"description": "Receives webhooks durably. Every operation under " + sluice.CommandPath + " is a command.",
		},
		"servers": []object{{"url": baseURL}},
		"paths":   paths,
		"components": object{
			"securitySchemes": schemes,
			"schemas": object{
				"Problem": schemaOf[sluice.Problem](),
				"Result":  schemaOf[sluice.Result](),
			},
		},
	}
}

func commandOperation(cmd command.Command, method string) object {
	group, _, _ := strings.Cut(cmd.Name, ".")
	op := object{
		"operationId": method + "." + cmd.Name,
		"summary":     cmd.Summary,
		"tags":        []string{group},
		"parameters":  queryParameters(cmd),
		"responses":   commandResponses(cmd),
	}
	if cmd.Endpoint != nil {
		op["security"] = []object{}
	} else {
		op["security"] = []object{{"basic": []string{}}, {"bearer": []string{}}}
		op["x-permission"] = cmd.Name
	}
	if method == "post" || method == "put" {
		op["requestBody"] = requestBody(cmd)
	}
	return op
}

func queryParameters(cmd command.Command) []object {
	params := make([]object, 0, len(cmd.Params))
	for _, p := range cmd.Params {
		if p.Body == command.BodyOnly {
			continue
		}
		described := object{
			"name":        p.Name,
			"in":          "query",
			"description": p.Doc,
			"schema":      paramSchema(p),
		}
		// Required, but there or in the body.
		if p.Required {
			described["x-required"] = true
		}
		if p.Alias != "" {
			described["x-alias"] = p.Alias
		}
		params = append(params, described)
	}
	return params
}

// requestBody describes the body of a POST. Parameters may be there or in the
// query, so none is required in either.
func requestBody(cmd command.Command) object {
	if cmd.Endpoint != nil {
		return object{"description": "The payload, of any type.", "content": object{"*/*": object{}}}
	}
	whole, takesBody := cmd.BodyParam()
	if takesBody && whole.Body == command.BodyOnly {
		return object{
			"description": whole.Doc,
			"required":    whole.Required,
			"content":     object{"*/*": object{"schema": paramSchema(whole)}},
			"x-parameter": whole.Name,
		}
	}
	properties := object{}
	for _, p := range cmd.Params {
		schema := paramSchema(p)
		schema["description"] = p.Doc
		properties[p.Name] = schema
	}
	schema := object{"type": "object", "properties": properties}
	body := object{"content": object{
		"application/json":                  object{"schema": schema},
		"application/x-www-form-urlencoded": object{"schema": schema},
	}}
	if takesBody {
		body["description"], body["x-parameter"] = whole.Doc, whole.Name
	}
	return body
}

func commandResponses(cmd command.Command) object {
	ok := ref("Result")
	switch len(cmd.Results) {
	case 0:
	case 1:
		ok = schemaFor(cmd.Results[0])
	default:
		alternatives := make([]object, len(cmd.Results))
		for i, t := range cmd.Results {
			alternatives[i] = schemaFor(t)
		}
		ok = object{"oneOf": alternatives}
	}
	responses := object{
		"200":     content("The command's output.", "application/json", ok),
		"default": problemResponse(),
	}
	if cmd.Endpoint != nil {
		responses["302"] = object{"description": "The way to the result, where a redirect was asked for."}
	}
	return responses
}

// documentParameters are those that a request to one pipeline may have besides its
// name.
func documentParameters(cmd command.Command) (params []object) {
	for _, p := range queryParameters(cmd) {
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

// describePipelines adds the paths under which pipelines are documents.
func describePipelines(set command.Set, paths object) {
	name := object{"name": "name", "in": "path", "required": true, "description": "Name of the pipeline.", "schema": object{"type": "string"}}
	one, all := object{}, object{}
	for method, verb := range map[string]string{"put": "pipeline.put", "get": "pipeline.get", "delete": "pipeline.delete", "post": "pipeline.run"} {
		cmd, ok := set.Find(verb)
		if !ok {
			return
		}
		op := commandOperation(cmd, method)
		op["operationId"] = method + ".pipeline"
		op["parameters"] = append([]object{name}, documentParameters(cmd)...)
		one[method] = op
		if method == "get" {
			op["responses"] = object{
				"200":     content("The source.", "application/yaml", object{"type": "string"}),
				"default": problemResponse(),
			}
		}
	}
	run, _ := set.Find("pipeline.run")
	op := commandOperation(run, "post")
	op["operationId"], op["summary"], op["parameters"] = "post.pipelines", "Run the pipeline in the body and answer its final body.", []object{}
	op["requestBody"] = object{"description": "The pipeline, in YAML or JSON.", "required": true, "content": object{"*/*": object{"schema": object{"type": "string"}}}}
	all["post"] = op
	paths[sluice.PipelinePath], paths[sluice.PipelinePath+"/{name}"] = all, one
}

func resultOperation() object {
	return object{
		"operationId": "result",
		"summary":     "Get the result of a call.",
		"security":    []object{},
		"parameters": []object{
			{
				"name": sluice.CorrelationQuery, "in": "query", "required": true,
				"description": "The value of that header in the answer of the call.",
				"schema":      object{"type": "string"},
			},
			{
				"name": sluice.RedirectQuery, "in": "query",
				"description": "Redirect until the result is ready (true), or answer at once (false).",
				"schema":      object{"type": "boolean"},
			},
		},
		"responses": object{
			"200":     content("The result.", "application/json", ref("Result")),
			"410":     content("No such result, or it has expired.", "application/problem+json", ref("Problem")),
			"default": problemResponse(),
		},
	}
}

func eventsOperation() object {
	parameter := func(name, description string) object {
		return object{"name": name, "in": "query", "description": description, "schema": object{"type": "string"}}
	}
	return object{
		"operationId":  "events",
		"summary":      "Follow calls and runs as they happen, as Server-Sent Events: call, run, dropped and error.",
		"security":     []object{{"basic": []string{}}, {"bearer": []string{}}},
		"x-permission": tailPermission,
		"parameters": []object{
			parameter("eventKey", "Only calls of the webhook with this key."),
			parameter("traceId", "Only this call, or the calls of a webhook by the last 6 characters of its token."),
			parameter("lastEventId", "Go on behind the event with this id, as with the header Last-Event-ID."),
		},
		"responses": object{
			"200":     content("What happens.", "text/event-stream", object{"type": "string"}),
			"default": problemResponse(),
		},
	}
}

func healthOperation(id, summary string) object {
	return object{
		"operationId": id,
		"summary":     summary,
		"security":    []object{},
		"responses": object{
			"200":     content("All is well.", "application/json", object{"type": "object"}),
			"default": problemResponse(),
		},
	}
}

func problemResponse() object {
	return content("What went wrong and what to do next.", "application/problem+json", ref("Problem"))
}

func content(description, media string, schema object) object {
	return object{"description": description, "content": object{media: object{"schema": schema}}}
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }
