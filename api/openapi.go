package api

import (
	_ "embed"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/command"
	"sluice/live"
	"sluice/value"
)

// object is a part of a JSON document.
type object = command.Schema

// openAPI returns the endpoint that describes the API. Strangers are told of what is open to them, and of no
// command, schema or version.
func (a *API) openAPI() command.Endpoint {
	open := sync.OnceValues(func() ([]byte, error) {
		return value.MarshalIndent(describe(command.Set{}, "3", a.BaseURL, a.OpenID))
	})
	return func(w http.ResponseWriter, r *http.Request) error {
		document := open
		if r.Header["Authorization"] != nil {
			if _, err := a.Authenticate(w, r); err != nil {
				return err
			}
			document = a.document
		}
		text, err := document()
		if err != nil {
			return err
		}
		w.Header().Add("Vary", "Authorization")
		send(w, text)
		return nil
	}
}

// OpenAPI returns the description of the API as OpenAPI 3.1. It is made when it is first
// needed, so that it does not delay a start.
func (a *API) OpenAPI() ([]byte, error) { return a.document() }

// fixed is the description without the commands.
//
//go:embed openapi.yaml
var fixed string

// describe describes the commands and the other endpoints; without commands only what is
// open to everyone. openID is where the issuer of access tokens describes itself: a path for the
// server's own, the URL of an external provider, or nothing.
func describe(set command.Set, version, baseURL, openID string) object {
	filled := map[string]string{
		"version": version, "baseURL": baseURL, "commands": sluice.CommandPath, "result": sluice.ResultPath,
		"events": sluice.EventsPath, "health": sluice.HealthPath, "ready": sluice.ReadyPath,
		"receive": sluice.ReceivePath, "pipeline": sluice.PipelinePath,
		"correlation": sluice.CorrelationQuery, "redirect": sluice.RedirectQuery, "permission": live.Permission,
		"poll": inSeconds(sluice.PollInterval), "hold": inSeconds(holdFor), "ref": "$ref",
	}
	var document object
	if err := yaml.Unmarshal([]byte(os.Expand(fixed, func(name string) string { return filled[name] })),
		&document); err != nil {
		panic(err) // the file is in the program
	}
	components, paths := document["components"].(object), document["paths"].(object)
	d := &description{
		schemas: command.NewSchemas(),
		ways:    []object{{"basic": []string{}}, {"bearer": []string{}}},
		groups:  map[string]string{"general": "Results, what happens live, and health."},
	}
	d.schemas.Of(reflect.TypeFor[sluice.Result]())
	d.schemas.Of(reflect.TypeFor[sluice.Problem]())
	components["schemas"] = d.schemas.Named
	if openID != "" {
		scheme := object{
			"type": "openIdConnect", "openIdConnectUrl": openID, "description": "The issuer of access tokens.",
		}
		if strings.HasPrefix(openID, "/") {
			scheme["openIdConnectUrl"], scheme["x-path"] = baseURL+openID, openID
		}
		components["securitySchemes"].(object)["openid"] = scheme
		d.ways = append(d.ways, object{"openid": []string{}})
	}
	if len(set.All()) == 0 {
		delete(paths, sluice.EventsPath)
	} else {
		paths[sluice.EventsPath].(object)["get"].(object)["security"] = d.ways
	}
	d.adapt(set, paths)
	for _, cmd := range set.All() {
		operations := object{"post": d.command(cmd, "post")}
		if cmd.ReadOnly {
			operations["get"] = d.command(cmd, "get")
		}
		if path := sluice.CommandPath + cmd.Name; paths[path] == nil {
			paths[path] = operations
		}
	}
	document["tags"] = d.tags()
	return document
}

// A description is an OpenAPI document in the making.
type description struct {
	schemas *command.Schemas
	ways    []object          // to authenticate
	groups  map[string]string // of operations: what each is about
}

// tags declares the groups of the operations.
func (d *description) tags() []object {
	tags := make([]object, 0, len(d.groups))
	for _, name := range slices.Sorted(maps.Keys(d.groups)) {
		tags = append(tags, object{"name": name, "description": d.groups[name]})
	}
	return tags
}

func inSeconds(d time.Duration) string { return strconv.Itoa(int(d/time.Second)) + " seconds" }

// responses are those of an operation that is answered with ok unless it fails.
func responses(ok object) object {
	return object{"200": ok, "4XX": responseRef("Refused"), "5XX": responseRef("Failed")}
}

func responseRef(name string) object { return object{"$ref": "#/components/responses/" + name} }
