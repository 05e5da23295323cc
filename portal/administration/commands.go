package administration

import (
	"strings"

	"sluice/command"
	"sluice/portal/page"
)

// A commandsView is the list of commands.
type commandsView struct {
	Search string
	Groups []commandGroup
}

// A commandGroup is a chapter of the list of commands.
type commandGroup struct {
	chapter

	Commands []command.Command
}

func commandsPage(v *page.Visit) error {
	view := commandsView{Search: v.Query("search")}
	wanted := strings.ToLower(view.Search)
	found := make(map[string][]command.Command)
	for _, cmd := range v.Commands.All() {
		if strings.Contains(strings.ToLower(cmd.Name+" "+cmd.Summary), wanted) {
			found[chapterOf(cmd.Name)] = append(found[chapterOf(cmd.Name)], cmd)
		}
	}
	for _, c := range inOrder(found) {
		view.Groups = append(view.Groups, commandGroup{c, found[c.Name]})
	}
	return v.Show("commands", "Commands", view)
}
