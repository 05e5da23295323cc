package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/command"
	"sluice/live"
	"sluice/value"
)

// object is a part of a JSON document.
type object = map[string]any

// openAPI returns the endpoint that describes the API. Anyone may ask for it as often as
// they like, so the documents are compressed only once: commands never change while the
// service runs. Strangers are told of what is open to them, and of no command, schema or
// version.
func (a *API) openAPI() command.Endpoint {
	open := sync.OnceValues(func() ([]byte, error) {
		return value.MarshalIndent(describe(command.Set{}, "3", a.BaseURL, a.OpenID))
	})
	openZipped, zipped := zippedOnce(open), zippedOnce(a.document)
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return notAllowed("GET, HEAD")
		}
		document, small := open, openZipped
		if r.Header["Authorization"] != nil {
			if _, err := a.Authenticate(w, r); err != nil {
				return err
			}
			document, small = a.document, zipped
		}
		text, err := document()
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Vary", "Authorization")
		if takesGzip(r.Header.Values("Accept-Encoding")) {
			w.Header().Set("Content-Encoding", "gzip")
			text = small()
		}
		_, _ = w.Write(text)
		return nil
	}
}

func zippedOnce(document func() ([]byte, error)) func() []byte {
	return sync.OnceValue(func() []byte {
		text, _ := document() // its error was returned before
		return zip(text)
	})
}

// OpenAPI returns the description of the API as OpenAPI 3.1. It is made when it is first
// needed, so that it does not delay a start.
func (a *API) OpenAPI() ([]byte, error) { return a.document() }

// describe describes the commands and the other endpoints; without commands only what is
// open to everyone. openID is where the
// issuer of access tokens describes itself: a path for the server's own, the URL of
// an external provider, or nothing.
func describe(set command.Set, version, baseURL, openID string) object {
	d := &description{schemas: &schemas{object{}, make(map[string]reflect.Type)}}
	paths := object{
		sluice.ResultPath: object{"get": d.result()},
		sluice.HealthPath: object{"get": probe("healthz", "Tell that the process runs.")},
		sluice.ReadyPath:  object{"get": probe("readyz", "Tell whether calls are welcome.")},
	}
	for _, cmd := range set.All() {
		operations := object{"post": d.command(cmd, "post")}
		if cmd.ReadOnly || cmd.Endpoint != nil {
			operations["get"] = d.command(cmd, "get")
		}
		paths[sluice.CommandPath+cmd.Name] = operations
	}
	if len(set.All()) > 0 {
		paths[sluice.EventsPath] = object{"get": d.events()}
		d.pipelines(set, paths)
	}
	schemes := object{
		"basic":  object{"type": "http", "scheme": "basic", "description": "A username and its password."},
		"bearer": object{"type": "http", "scheme": "bearer", "description": "An access token."},
	}
	if openID != "" {
		scheme := object{
			"type": "openIdConnect", "openIdConnectUrl": openID, "description": "The issuer of access tokens.",
		}
		if strings.HasPrefix(openID, "/") {
			scheme["openIdConnectUrl"], scheme["x-path"] = baseURL+openID, openID
		}
		schemes["openid"] = scheme
		d.openID(paths)
	}
	problems := d.schemas.of(reflect.TypeFor[sluice.Problem]())
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "sluice",
			"version":     version,
			"description": "Receives webhooks durably. Every operation under " + sluice.CommandPath + " is a command.",
			"license":     object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
			"contact":     object{"name": "The operator of this server", "url": baseURL},
		},
		"servers": []object{{"url": baseURL}},
		"tags":    d.tags(paths),
		"paths":   paths,
		"components": object{
			"securitySchemes": schemes,
			"schemas":         d.schemas.named,
			"responses": object{
				"Refused": content("What is wrong with the request, and what to do next.", problemMedia, problems),
				"Failed": content("What the server could not do. With a Retry-After it will pass.", problemMedia,
					problems),
			},
		},
	}
}

// A description is an OpenAPI document in the making.
type description struct{ schemas *schemas }

const (
	problemMedia = "application/problem+json"
	generalTag   = "general" // of operations that are no commands
)

// tags declares the tags of the operations: the groups of the commands.
func (*description) tags(paths object) []object {
	groups := map[string]string{generalTag: "Results, what happens live, and health."}
	for _, operations := range paths {
		for _, op := range operations.(object) {
			if tag := op.(object)["tags"].([]string)[0]; groups[tag] == "" {
				groups[tag] = "The commands " + tag + ".*"
			}
		}
	}
	tags := make([]object, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		tags = append(tags, object{"name": name, "description": groups[name]})
	}
	return tags
}

// openID adds the issuer as a way to authenticate to the operations that have
// others.
func (*description) openID(paths object) {
	for _, operations := range paths {
		for _, op := range operations.(object) {
			if ways := op.(object)["security"].([]object); len(ways) > 0 {
				op.(object)["security"] = append(ways, object{"openid": []string{}})
			}
		}
	}
}

func (d *description) result() object {
	ready := content("The result; with status processing and a Retry-After if pollingRedirectEnabled is false and it "+
		"is not ready.", "application/json", d.schemas.of(reflect.TypeFor[sluice.Result]()))
	ready["headers"] = object{"Retry-After": header("integer", "How many seconds to wait before the next poll.")}
	return object{
		"operationId": "result",
		"summary":     "Get the result of a call.",
		"description": "Whoever has the correlation id of a call may ask. Polls must be " +
			inSeconds(sluice.PollInterval) + " apart, unless the server holds them.",
		"tags":     []string{generalTag},
		"security": []object{},
		"parameters": []object{
			{
				"name": sluice.CorrelationQuery, "in": "query", "required": true,
				"description": "The value of that header in the answer of the call.",
				"schema":      object{"type": "string"},
			}, {
				"name": sluice.RedirectQuery, "in": "query",
				"description": "Redirect until the result is ready (true), or answer at once (false).",
				"schema":      object{"type": "boolean"},
			},
		},
		"responses": object{
			"200": ready,
			"302": redirect("It is not ready: ask again there. The server holds that request for up to " +
				inSeconds(holdFor) + "."),
			"410": content("There is no such result, or it has expired.", problemMedia, ref("Problem")),
			"429": content("The polls come too often: wait as Retry-After says.", problemMedia, ref("Problem")),
			"4XX": responseRef("Refused"),
			"5XX": responseRef("Failed"),
		},
	}
}

func inSeconds(d time.Duration) string { return strconv.Itoa(int(d/time.Second)) + " seconds" }

func (d *description) events() object {
	parameter := func(name, about string) object {
		return object{"name": name, "in": "query", "description": about, "schema": object{"type": "string"}}
	}
	return object{
		"operationId": "events",
		"summary":     "Follow calls and runs as they happen.",
		"description": "Server-Sent Events: call, run, dropped and error. Needs the permission " + live.Permission +
			".",
		"tags":         []string{generalTag},
		"security":     authenticated(),
		"x-permission": live.Permission,
		"parameters": []object{
			parameter("eventKey", "Only calls of the webhook with this key."),
			parameter("traceId", "Only this call, or the calls of a webhook by the last 6 characters of its token."),
			parameter("lastEventId", "Go on behind the event with this id, as with the header Last-Event-ID."),
		},
		"responses": responses(content("What happens.", "text/event-stream", object{"type": "string"})),
	}
}

func probe(id, summary string) object {
	return object{
		"operationId": id,
		"summary":     summary,
		"description": "For those who watch over the server.",
		"tags":        []string{generalTag},
		"security":    []object{},
		"responses":   responses(content("All is well.", "application/json", object{"type": "object"})),
	}
}

// responses are those of an operation that is answered with ok unless it fails.
func responses(ok object) object {
	return object{"200": ok, "4XX": responseRef("Refused"), "5XX": responseRef("Failed")}
}

// redirect is an answer that leads elsewhere.
func redirect(about string) object {
	return object{"description": about, "headers": object{
		"Location":    header("string", "Where to go."),
		"Retry-After": header("integer", "How many seconds to wait, for those who don't follow at once."),
	}}
}

func header(kind, about string) object {
	return object{"description": about, "schema": object{"type": kind}}
}

func authenticated() []object { return []object{{"basic": []string{}}, {"bearer": []string{}}} }

func content(about, media string, schema object) object {
	return object{"description": about, "content": object{media: object{"schema": schema}}}
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func responseRef(name string) object { return object{"$ref": "#/components/responses/" + name} }
