package administration

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice"
	"sluice/portal/page"
)

// A referenceView is a chapter of the API reference.
type referenceView struct {
	Chapters   []chapter
	Chapter    string
	Operations []operation
}

func referencePage(v *page.Visit, of map[string][]operation) error {
	view := referenceView{Chapters: inOrder(of), Chapter: cmp.Or(v.Named("tag"), chapters()[0].Name)}
	view.Operations = of[view.Chapter]
	if view.Operations == nil {
		return sluice.CodeNotFound.Errorf("There is no such part of the reference.")
	}
	return v.Show("reference", "API reference", view)
}

// An operation is what a path does, by one method or several, as OpenAPI describes it.
type operation struct {
	Path        string   `json:"-"`
	Methods     []string `json:"-"`
	Summary     string
	Tags        []string // its chapter
	Command     string   `json:"x-permission"`
	Security    []any    // empty if it needs no authentication
	Parameters  []parameter
	RequestBody struct {
		Description string
		Content     map[string]struct{ Schema schema } // by media type
	}
	Media     string `json:"-"` // media types of the body, unless it holds the parameters
	Responses map[string]struct{ Description string }
}

type parameter struct {
	Name, Description string
	Required          bool
	Schema            schema
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        string
	Enum        []string
	Description string
	Properties  map[string]schema
	Required    []string
	Order       int `json:"x-order"`
}

// operationsOf returns the operations of an OpenAPI document by chapter.
func operationsOf(text []byte) (map[string][]operation, error) {
	var document struct {
		Paths      map[string]map[string]operation
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	found := make(map[string][]operation)
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			op := document.Paths[path][method]
			op.Path, op.Methods = path, []string{strings.ToUpper(method)}
			op.readBody(document.Components.Schemas)
			maps.DeleteFunc(op.Responses, func(code string, _ struct{ Description string }) bool {
				return strings.HasSuffix(code, "XX") // the page says it once
			})
			found[op.Tags[0]] = joined(found[op.Tags[0]], op)
		}
	}
	return found, nil
}

// joined adds an operation, or another method of the same one.
func joined(all []operation, op operation) []operation {
	last := len(all) - 1
	if last < 0 || all[last].Path != op.Path || all[last].Summary != op.Summary {
		return append(all, op)
	}
	before := &all[last]
	before.Methods = append(before.Methods, op.Methods...)
	if before.Media == "" {
		before.RequestBody, before.Media = op.RequestBody, op.Media
	}
	return all
}

// readBody describes the body: parameters in the declared order, or a document.
func (op *operation) readBody(schemas map[string]schema) {
	contents := op.RequestBody.Content
	form, isForm := contents["application/x-www-form-urlencoded"]
	if !isForm {
		media := strings.Join(slices.Sorted(maps.Keys(contents)), " or ")
		op.Media = strings.ReplaceAll(media, "*/*", "any type")
		return
	}
	fields := schemas[strings.TrimPrefix(form.Schema.Ref, "#/components/schemas/")]
	names := slices.SortedFunc(maps.Keys(fields.Properties),
		func(a, b string) int { return cmp.Compare(fields.Properties[a].Order, fields.Properties[b].Order) })
	for _, name := range names {
		of := fields.Properties[name]
		op.Parameters = append(op.Parameters, parameter{
			name, of.Description, slices.Contains(fields.Required, name), of,
		})
	}
}
