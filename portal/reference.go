package portal

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sluice"
)

// A reference is a chapter of the API reference.
type reference struct {
	Chapters   []chapter
	Chapter    string
	Operations []operation
}

// An operation is what a path does, by one method or several.
type operation struct {
	Methods       []string
	Path, Summary string
	Command       string
	Open          bool // it needs no authentication
	Params        []parameter
	Body          string // describes the body, unless it holds the parameters
	Media         string // media types of the body
	Statuses      []status
}

type parameter struct {
	Name, In, Type, Doc string
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

// add adds an operation, or another method of the same one.
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
		op.Params = append(op.Params, parameter{text(param["name"]), text(param["in"]), typeWords(object(param["schema"])), text(param["description"]), needed})
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
	const usual = 3 // 200, 4XX and 5XX
	if op.Command != "" && len(responses) == usual {
		return op
	}
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		if strings.HasSuffix(code, "XX") {
			continue // the page says it once
		}
		op.Statuses = append(op.Statuses, status{code, text(p.resolved(object(responses[code]))["description"])})
	}
	return op
}

// fieldsOf returns the parameters in a form or a JSON object, in the declared order.
func (p *Portal) fieldsOf(schema map[string]any) (params []parameter) {
	properties, needed := object(schema["properties"]), strs(schema["required"])
	position := func(name string) float64 {
		order, _ := object(properties[name])["x-order"].(float64)
		return order
	}
	names := slices.SortedFunc(maps.Keys(properties), func(a, b string) int { return cmp.Compare(position(a), position(b)) })
	for _, name := range names {
		field := object(properties[name])
		params = append(params, parameter{name, "body", typeWords(field), text(field["description"]), slices.Contains(needed, name)})
	}
	return params
}

// resolved follows a $ref.
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

// typeWords describes the values that a schema allows.
func typeWords(schema map[string]any) string {
	if enum := strs(schema["enum"]); len(enum) > 0 {
		return strings.Join(enum, ", ")
	}
	words := map[string]string{"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list", "object": "a JSON object"}
	return cmp.Or(words[text(schema["type"])], "any value")
}

// These return parts of decoded JSON, empty if they are missing.

func object(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}

// A chapter is the commands with one prefix, in the list of commands and in the API
// reference.
type chapter struct{ Name, Title string }

// generalChapter holds endpoints that are no commands, and flowChapter the commands
// without a prefix.
const (
	generalChapter = "general"
	flowChapter    = "flow"
)

// chapters are those with a title, the most needed first.
var chapters = []chapter{
	{"webhook", "Webhooks"},
	{"provider", "Known senders"},
	{"pipeline", "Pipelines"},
	{"trace", "Calls"},
	{"deadletter", "Dead letters"},
	{"quarantine", "Quarantine"},
	{"event", "Events"},
	{"message", "Messages"},
	{flowChapter, "Steps that direct a pipeline"},
	{"http", "Requests to other systems"},
	{"convert", "Conversions"},
	{"crypto", "Hashes and signatures"},
	{"secret", "Secrets"},
	{"iam", "Users, roles and clients"},
	{"audit", "Audit log"},
	{"server", "Server"},
	{generalChapter, "Results, live events and health"},
}

func chapterOf(command string) string {
	name, _, dotted := strings.Cut(command, ".")
	if !dotted {
		return flowChapter
	}
	return name
}

// inOrder returns the chapters with these names, those with a title first.
func inOrder(names map[string]bool) (found []chapter) {
	for _, c := range chapters {
		if names[c.Name] {
			found = append(found, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.ContainsFunc(chapters, func(c chapter) bool { return c.Name == name }) {
			found = append(found, chapter{name, name})
		}
	}
	return found
}
