package administration

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sluice/portal/page"
)

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

func operationOf(v *page.Visit, path, method string, described map[string]any) operation {
	op := operation{
		Methods: []string{strings.ToUpper(method)}, Path: path, Summary: text(described["summary"]),
		Command: text(described["x-permission"]),
	}
	op.Open = len(list(described["security"])) == 0
	for _, entry := range list(described["parameters"]) {
		param := object(entry)
		needed, _ := param["required"].(bool)
		op.Params = append(op.Params, parameter{
			text(param["name"]), text(param["in"]), typeWords(object(param["schema"])), text(param["description"]),
			needed,
		})
	}
	body := object(described["requestBody"])
	contents := object(body["content"])
	media := slices.Sorted(maps.Keys(contents))
	if form := object(contents["application/x-www-form-urlencoded"]); len(form) > 0 {
		op.Params = append(op.Params, fieldsOf(resolved(v, object(form["schema"])))...)
	} else if len(media) > 0 {
		op.Body, op.Media = text(body["description"]), strings.ReplaceAll(strings.Join(media, " or "), "*/*",
			"any type")
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
		op.Statuses = append(op.Statuses, status{code, text(resolved(v, object(responses[code]))["description"])})
	}
	return op
}

// fieldsOf returns the parameters in a form or a JSON object, in the declared order.
func fieldsOf(schema map[string]any) (params []parameter) {
	properties, needed := object(schema["properties"]), texts(schema["required"])
	position := func(name string) float64 {
		order, _ := object(properties[name])["x-order"].(float64)
		return order
	}
	names := slices.SortedFunc(maps.Keys(properties),
		func(a, b string) int { return cmp.Compare(position(a), position(b)) })
	for _, name := range names {
		field := object(properties[name])
		params = append(params, parameter{
			name, "body", typeWords(field), text(field["description"]), slices.Contains(needed, name),
		})
	}
	return params
}

// resolved follows a $ref.
func resolved(v *page.Visit, part map[string]any) map[string]any {
	path, isRef := strings.CutPrefix(text(part["$ref"]), "#/")
	if !isRef {
		return part
	}
	found := v.Reference()
	for name := range strings.SplitSeq(path, "/") {
		found = object(found[name])
	}
	return found
}

// typeWords describes the values that a schema allows.
func typeWords(schema map[string]any) string {
	if enum := texts(schema["enum"]); len(enum) > 0 {
		return strings.Join(enum, ", ")
	}
	words := map[string]string{
		"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
		"array": "a list", "object": "a JSON object",
	}
	return cmp.Or(words[text(schema["type"])], "any value")
}
