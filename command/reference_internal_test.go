package command

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sluice"
)

// Reference describes all commands as a page of Markdown.
func (s Set) Reference() string {
	page := &referencePage{schemas: NewSchemas(), uses: make(map[string]int), shown: make(map[string]bool)}
	page.WriteString("# Commands\n\n" +
		"Call a command with `POST " + sluice.CommandPath + "<name>`; its parameters go in the query, " +
		"a form or a JSON object. " +
		"Commands that change nothing also take `GET`. A command's name is also the permission it needs. " +
		"An example is written as a step of a pipeline, which has the same parameters, and shows what the command " +
		"gives. Answers leave out members that say *if any* where there is nothing to say. " +
		"`/openapi.json` has the same as schemas.\n")
	for _, c := range s.commands {
		for _, t := range c.Results {
			page.count(page.schemas.Of(t))
		}
	}
	for _, schema := range page.schemas.Named {
		if schema.(Schema)["properties"] != nil {
			page.count(schema.(Schema))
		}
	}
	for _, c := range s.commands {
		page.command(c)
	}
	page.WriteString("\n## Parts of answers\n")
	for _, name := range slices.Sorted(maps.Keys(page.schemas.types)) {
		if !page.shown[name] {
			fmt.Fprintf(page, "\n### %s\n", name)
			page.members(page.schemas.types[name])
		}
	}
	return page.String()
}

// A referencePage is the reference in the making.
type referencePage struct {
	strings.Builder

	schemas *Schemas
	uses    map[string]int  // how often answers refer to each struct
	shown   map[string]bool // names of structs that stand beside the one command that gives them
}

// count counts the structs that a schema refers to.
func (r *referencePage) count(schema Schema) {
	if name := refName(schema); name != "" {
		if list, _ := r.schemas.Named[name].(Schema); list["type"] == "array" {
			schema = list
		} else {
			r.uses[name]++
		}
	}
	properties, _ := schema["properties"].(Schema)
	for _, of := range properties {
		r.count(of.(Schema))
	}
	for _, of := range []string{"items", "additionalProperties"} {
		if part, _ := schema[of].(Schema); part != nil {
			r.count(part)
		}
	}
}

func (r *referencePage) command(c Command) {
	fmt.Fprintf(r, "\n## %s\n\n%s\n\n", c.Name, c.Summary)
	switch {
	case c.Endpoint != nil:
		r.WriteString("`GET` or `POST`, without header authentication.\n")
	case c.ReadOnly:
		r.WriteString("`GET` or `POST`.\n")
	default:
		r.WriteString("`POST`.\n")
	}
	if len(c.Params) > 0 {
		r.WriteString("\n| Parameter | Takes | Meaning |\n|---|---|---|\n")
	}
	for _, p := range c.Params {
		name := "`" + p.Name + "`"
		if p.Alias != "" {
			name += " (also `" + p.Alias + "`)"
		}
		if p.Required {
			name += ", required"
		}
		switch p.Body {
		case BodyOnly:
			name += ", the body of the call"
		case bodyDefault:
			name += ", in a pipeline by default the body"
		}
		fmt.Fprintf(r, "| %s | %s | %s |\n", name, p.Wants(), p.Doc)
	}
	r.gives(c)
	example := c.Example()
	if example.Call != "" {
		fmt.Fprintf(r, "\n```yaml\n%s: %s\n```\n", c.Name, strings.TrimSpace(example.Call))
	}
	if example.Answer != "" {
		fmt.Fprintf(r, "```json\n%s\n```\n", strings.TrimSpace(example.Answer))
	}
}

// gives says what a command answers with. What it alone gives stands there, everything else behind
// all commands.
func (r *referencePage) gives(c Command) {
	if text := c.Example().Gives; text != "" {
		fmt.Fprintf(r, "\nGives %s\n", text)
		return
	}
	var shapes []string
	for _, t := range c.Results {
		schema := r.schemas.Of(t)
		name := refName(schema)
		if t.Kind() == reflect.Struct && (name == "" || r.uses[name] == 1) {
			r.shown[name] = true
			r.members(t)
			return
		}
		shapes = append(shapes, r.schemas.words(schema))
	}
	if len(shapes) > 0 {
		fmt.Fprintf(r, "\nGives: %s.\n", strings.Join(shapes, ", or "))
	}
}

// members describes the members of a struct.
func (r *referencePage) members(t reflect.Type) {
	r.WriteString("\n| Gives | Type | Meaning |\n|---|---|---|\n")
	for _, m := range members(t) {
		name := "`" + m.name + "`"
		if m.optional {
			name += ", if any"
		}
		fmt.Fprintf(r, "| %s | %s | %s |\n", name, r.schemas.words(r.schemas.member(m)), m.doc)
	}
}

// refName returns the name that a schema refers to, or "".
func refName(schema Schema) string {
	ref, _ := schema["$ref"].(string)
	return strings.TrimPrefix(ref, refPrefix)
}

// words says what a schema allows. References lead to what several commands give.
func (s *Schemas) words(schema Schema) string {
	if name := refName(schema); name != "" {
		if list, _ := s.Named[name].(Schema); list["type"] == "array" {
			return s.words(list)
		}
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}
	if values, _ := schema["enum"].([]string); values != nil {
		return "one of " + strings.Join(values, ", ")
	}
	switch kind, _ := schema["type"].(string); {
	case kind == "array":
		return "list of " + s.words(schema["items"].(Schema))
	case schema["additionalProperties"] != nil:
		return "object of " + s.words(schema["additionalProperties"].(Schema))
	case schema["format"] != nil:
		return "time"
	case kind == "":
		return "anything"
	default:
		return kind
	}
}
