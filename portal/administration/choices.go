package administration

import (
	"strings"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

func roleChoices(v *page.Visit) (choices []page.Choice) {
	for _, role := range page.Ask[[]sluice.RoleView](v, "iam.role.get") {
		choices = append(choices, page.Choice{Value: role.Name, Label: role.Name, Help: InWords(v, role.Permissions)})
	}
	return choices
}

// permissionChoices returns all permissions by what people do with them, with what each allows.
func permissionChoices(v *page.Visit) []page.Choice {
	const everywhere = "Everywhere"
	choices := []page.Choice{
		{Value: sluice.MayRead, Label: sluice.MayRead, Help: "Run every command that changes nothing.",
			Area: everywhere},
		{Value: "*", Label: "*", Help: "Everything.", Area: everywhere},
	}
	byChapter := make(map[string][]page.Choice)
	add := func(name, help string) {
		of := command.Command{Name: name}.Group()
		byChapter[of] = append(byChapter[of], page.Choice{Value: name, Label: name, Help: help})
	}
	for _, cmd := range v.Commands.All() {
		if cmd.Endpoint == nil {
			add(cmd.Name, page.Typographic(cmd.Summary))
		}
	}
	for _, a := range meanings().Abilities {
		if _, isCommand := v.Commands.Find(a.Permission); !isCommand {
			add(a.Permission, strings.ToUpper(a.Words[:1])+a.Words[1:]+".")
		}
	}
	for _, c := range inOrder(byChapter) {
		of := byChapter[c.Name]
		if len(of) > 1 && strings.Contains(of[0].Value, ".") {
			all := c.Name + ".*"
			of = append([]page.Choice{{Value: all, Label: all, Help: c.Title + ": all, and what later versions add."}},
				of...)
		}
		for _, choice := range of {
			choice.Area = c.Task
			choices = append(choices, choice)
		}
	}
	return choices
}
