package portal

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sluice"
)

// A reference is a part of the description of the API.
type reference struct {
	Chapters   []chapter
	Chapter    string
	Operations []operation
}

// An operation is what one path does, by one method or by several.
type operation struct {
	Methods       []string
	Path, Summary string
	Command       string
	Open          bool // it needs no authentication
	Params        []parameter
	Body          string // what the body is, unless it holds the parameters
	Media         string // types that the body may have
	Statuses      []status
}

type parameter struct {
	Name, In, Kind, Doc string
	Required            bool
}

type status struct{ Code, Doc string }

func (p *Portal) referencePage(w http.ResponseWriter, r *http.Request) error {
	view := reference{Chapter: cmp.Or(r.PathValue("tag"), chapters[0].Name)}
	found := make(map[string]bool)
	paths := object(p.Reference()["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		methods := object(paths[path])
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			described := object(methods[method])
			of := generalChapter
			if own := strs(described["tags"]); len(own) > 0 {
				of = own[0]
			}
			found[of] = true
			if of == view.Chapter {
				view.add(p.operationOf(path, method, described))
			}
		}
	}
	if !found[view.Chapter] {
		return sluice.Errorf(sluice.CodeNotFound, "There is no such part of the reference.")
	}
	view.Chapters = inOrder(found)
	return p.render(w, r, http.StatusOK, "reference", "API reference", view)
}

// add adds an operation. One that does the same by another method is the same.
func (v *reference) add(op operation) {
	if last := len(v.Operations) - 1; last >= 0 {
		if before := &v.Operations[last]; before.Path == op.Path && before.Summary == op.Summary {
			before.Methods = append(before.Methods, op.Methods...)
			before.Body, before.Media = cmp.Or(before.Body, op.Body), cmp.Or(before.Media, op.Media)
			return
		}
	}
	v.Operations = append(v.Operations, op)
}

func (p *Portal) operationOf(path, method string, described map[string]any) operation {
	op := operation{Methods: []string{strings.ToUpper(method)}, Path: path, Summary: text(described["summary"]), Command: text(described["x-permission"])}
	op.Open = len(list(described["security"])) == 0
	for _, entry := range list(described["parameters"]) {
		param := object(entry)
		needed, _ := param["required"].(bool)
		op.Params = append(op.Params, parameter{text(param["name"]), text(param["in"]), kindOf(object(param["schema"])), text(param["description"]), needed})
	}
	body := object(described["requestBody"])
	contents := object(body["content"])
	media := slices.Sorted(maps.Keys(contents))
	if form := object(contents["application/x-www-form-urlencoded"]); len(form) > 0 {
		op.Params = append(op.Params, p.fieldsOf(p.resolved(object(form["schema"])))...)
	} else if len(media) > 0 {
		op.Body, op.Media = text(body["description"]), strings.ReplaceAll(strings.Join(media, " or "), "*/*", "any type")
	}
	responses := object(described["responses"])
	const usual = 3 // 200, and what is wrong
	if op.Command != "" && len(responses) == usual {
		return op
	}
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		if strings.HasSuffix(code, "XX") {
			continue // said once of all
		}
		op.Statuses = append(op.Statuses, status{code, text(p.resolved(object(responses[code]))["description"])})
	}
	return op
}

// fieldsOf returns the parameters that a form or a JSON object holds, in the order
// in which they are declared.
func (p *Portal) fieldsOf(schema map[string]any) (params []parameter) {
	properties, needed := object(schema["properties"]), strs(schema["required"])
	place := func(name string) float64 {
		order, _ := object(properties[name])["x-order"].(float64)
		return order
	}
	names := slices.SortedFunc(maps.Keys(properties), func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	for _, name := range names {
		field := object(properties[name])
		params = append(params, parameter{name, "body", kindOf(field), text(field["description"]), slices.Contains(needed, name)})
	}
	return params
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
	words := map[string]string{"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list", "object": "a JSON object"}
	return cmp.Or(words[text(schema["type"])], "any value")
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
