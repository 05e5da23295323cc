package portal

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// A reference is a part of the description of the API.
type reference struct {
	Tags       []string
	Tag        string
	Operations []operation
}

// An operation is one method of one path.
type operation struct {
	Method, Path, Summary string
	Command               string
	Open                  bool // it needs no authentication
	Params                []parameter
	Body                  string
	Statuses              []status
}

type parameter struct{ Name, In, Kind, Doc string }

type status struct{ Code, Doc string }

// generalTag is the tag of operations that belong to no group of commands.
const generalTag = "general"

func (p *Portal) referencePage(w http.ResponseWriter, r *http.Request) error {
	view := reference{Tag: r.PathValue("tag")}
	if view.Tag == "" {
		view.Tag = "webhook"
	}
	tags := make(map[string]bool)
	paths := object(p.Reference()["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		methods := object(paths[path])
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			described := object(methods[method])
			tag := generalTag
			if own := strs(described["tags"]); len(own) > 0 {
				tag = own[0]
			}
			tags[tag] = true
			if tag == view.Tag {
				view.Operations = append(view.Operations, p.operationOf(path, method, described))
			}
		}
	}
	view.Tags = slices.Sorted(maps.Keys(tags))
	return p.render(w, r, http.StatusOK, "reference", "API reference", view)
}

func (p *Portal) operationOf(path, method string, described map[string]any) operation {
	op := operation{Method: strings.ToUpper(method), Path: path}
	op.Summary, _ = described["summary"].(string)
	op.Command, _ = described["x-permission"].(string)
	op.Open = len(list(described["security"])) == 0
	for _, entry := range list(described["parameters"]) {
		param := object(entry)
		schema := object(param["schema"])
		op.Params = append(op.Params, parameter{text(param["name"]), text(param["in"]), kindOf(schema), text(param["description"])})
	}
	for media, content := range object(object(described["requestBody"])["content"]) {
		op.Body = strings.TrimPrefix(op.Body+", "+media, ", ")
		if len(op.Params) == 0 {
			properties := object(p.resolved(object(object(content)["schema"]))["properties"])
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				schema := object(properties[name])
				op.Params = append(op.Params, parameter{name, "body", kindOf(schema), text(schema["description"])})
			}
		}
	}
	responses := object(described["responses"])
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		op.Statuses = append(op.Statuses, status{code, text(p.resolved(object(responses[code]))["description"])})
	}
	return op
}

// resolved follows a reference to a named part of the document.
func (p *Portal) resolved(part map[string]any) map[string]any {
	path, isRef := strings.CutPrefix(text(part["$ref"]), "#/")
	if !isRef {
		return part
	}
	found := p.Reference()
	for name := range strings.SplitSeq(path, "/") {
		found = object(found[name])
	}
	return found
}

// kindOf returns in words which values a schema allows.
func kindOf(schema map[string]any) string {
	if enum := strs(schema["enum"]); len(enum) > 0 {
		return strings.Join(enum, ", ")
	}
	if kind := text(schema["type"]); kind != "" {
		return kind
	}
	return "any"
}

// The document was read from JSON: these return its parts, empty where it has
// none.

func object(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

func strs(value any) (texts []string) {
	for _, item := range list(value) {
		texts = append(texts, text(item))
	}
	return texts
}
