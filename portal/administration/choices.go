package administration

import (
	"maps"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

func roleChoices(v *page.Visit) ([]page.Choice, error) {
	roles, err := page.Ask[command.Page[sluice.RoleView]](v, "iam.role.get")
	choices := make([]page.Choice, len(roles.Items))
	for i, role := range roles.Items {
		choices[i] = page.Choice{Value: role.Name, Label: role.Name, Help: InWords(v, role.Permissions)}
	}
	return choices, err
}

func grantChoices(*page.Visit) ([]page.Choice, error) {
	return []page.Choice{
		{Value: "client_credentials", Label: "client_credentials", Help: "For itself, with its secret."},
		{Value: "authorization_code", Label: "authorization_code", Help: "For people who allow it in their browser."},
		{Value: "password", Label: "password", Help: "For people who give it their password."},
		{Value: "refresh_token", Label: "refresh_token", Help: "Stays logged in for people, without asking again."},
	}, nil
}

// permissionChoices returns all permissions by area, with what each allows.
func permissionChoices(v *page.Visit) ([]page.Choice, error) {
	const everywhere = "Everywhere"
	choices := []page.Choice{
		{Value: sluice.MayRead, Label: sluice.MayRead, Help: "Run every command that changes nothing.",
			Area: everywhere},
		{Value: "*", Label: "*", Help: "Everything.", Area: everywhere},
	}
	byArea := make(map[string][]page.Choice)
	add := func(name, help string) {
		area, _, _ := strings.Cut(name, ".")
		byArea[area] = append(byArea[area], page.Choice{Value: name, Label: name, Help: help, Area: area})
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
	for _, area := range slices.Sorted(maps.Keys(byArea)) {
		if of := byArea[area]; len(of) > 1 {
			choices = append(choices, page.Choice{
				Value: area + ".*", Label: area + ".*", Help: "All of these, and what later versions add.", Area: area,
			})
		}
		choices = append(choices, byArea[area]...)
	}
	return choices, nil
}
