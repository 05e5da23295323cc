package command

import (
	"fmt"
	"strings"

	"sluice"
)

// Reference describes all commands as a page of Markdown.
func (s Set) Reference() string {
	var page strings.Builder
	page.WriteString("# Commands\n\n" +
		"Call a command with `POST " + sluice.CommandPath + "<name>`; its parameters go in the query, " +
		"a form or a JSON object. " +
		"Commands that change nothing also take `GET`. A command's name is also the permission it needs. " +
		"What a command gives is written as its members with their types; those with a question mark may be " +
		"missing. `/openapi.json` has the same as schemas.\n")
	for _, c := range s.commands {
		c.describe(&page)
	}
	return page.String()
}

func (c Command) describe(page *strings.Builder) {
	fmt.Fprintf(page, "\n## %s\n\n%s\n\n", c.Name, c.Summary)
	switch {
	case c.Endpoint != nil:
		page.WriteString("`GET` or `POST`, without header authentication.\n")
	case c.ReadOnly:
		page.WriteString("`GET` or `POST`.\n")
	default:
		page.WriteString("`POST`.\n")
	}
	defer func() {
		if gives := c.gives(); gives != "" {
			fmt.Fprintf(page, "\n%s\n", gives)
		}
	}()
	if len(c.Params) == 0 {
		return
	}
	page.WriteString("\n| Parameter | Takes | Meaning |\n|---|---|---|\n")
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
		fmt.Fprintf(page, "| %s | %s | %s |\n", name, p.Wants(), p.Doc)
	}
}
