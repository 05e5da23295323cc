package administration

import (
	"strings"

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

	Commands []listedCommand
}

// A commandLine is a command in a list.
type commandLine struct {
	Name, Summary string
	Allowed       bool
}

type listedCommand struct {
	commandLine

	Step bool // it works only in a pipeline
}

func commandsPage(v *page.Visit) error {
	view := commandsView{Search: v.Query("search")}
	wanted := strings.ToLower(view.Search)
	user := v.User
	found, lines := make(map[string]bool), make(map[string][]listedCommand)
	for _, cmd := range v.Commands.All() {
		if !strings.Contains(strings.ToLower(cmd.Name+" "+cmd.Summary), wanted) {
			continue
		}
		name := chapterOf(cmd.Name)
		found[name] = true
		lines[name] = append(lines[name], listedCommand{
			commandLine{cmd.Name, cmd.Summary, cmd.Endpoint != nil || cmd.Allows(user)}, cmd.Trigger || cmd.InRun,
		})
	}
	for _, c := range inOrder(found) {
		view.Groups = append(view.Groups, commandGroup{c, lines[c.Name]})
	}
	return v.Show("commands", "Commands", view)
}
