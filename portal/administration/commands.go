package administration

import (
	"strings"

	"sluice/command"
	"sluice/portal/page"
)

// A commandsView is the list of commands.
type commandsView struct{ Groups []commandGroup }

// A commandGroup is a chapter of the list of commands.
type commandGroup struct {
	chapter

	Commands []command.Command
}

func commandsPage(v *page.Visit) error {
	var view commandsView
	wanted := strings.ToLower(v.Query("search"))
	found := make(map[string][]command.Command)
	for _, cmd := range v.Commands.All() {
		if strings.Contains(strings.ToLower(cmd.Name+" "+cmd.Summary), wanted) {
			found[cmd.Group()] = append(found[cmd.Group()], cmd)
		}
	}
	for _, c := range inOrder(found) {
		view.Groups = append(view.Groups, commandGroup{c, found[c.Name]})
	}
	return v.Show("commands", "Commands", view)
}
