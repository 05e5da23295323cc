package administration

import (
	"net/url"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
	"sluice/problem"
)

type commandView struct {
	page.Form

	Name, Summary string
	Tag           string // of the API reference
	ReadOnly      bool
	Step          bool // it works only in a pipeline, or over HTTP
	Allowed       bool
	Lines         []string // commands for a terminal
	Ran           bool
	Output        []outputPart
	More          bool // the form asks for the next page
}

// Secrets reports whether the output has secrets.
func (v commandView) Secrets() bool {
	return slices.ContainsFunc(v.Output, func(part outputPart) bool { return part.Mask != "" })
}

func commandPage(v *page.Visit, cmd command.Command) error {
	view, err := commandViewOf(v, cmd, v.R.URL.Query(), nil)
	if err != nil {
		return err
	}
	return v.Show("command", cmd.Name, view)
}

// commandNamed returns the command that the path names.
func commandNamed(v *page.Visit) (command.Command, error) {
	cmd, ok := v.Commands.Find(v.Named("name"))
	if !ok {
		return cmd, sluice.Errorf(sluice.CodeCommandUnknown, "There is no such command.")
	}
	return cmd, nil
}

func commandViewOf(v *page.Visit, cmd command.Command, entered url.Values, failure error) (commandView, error) {
	user := v.User
	view := commandView{
		Form: page.FormOf(cmd, entered, failure),
		Name: cmd.Name, Summary: cmd.Summary, Tag: chapterOf(cmd.Name), ReadOnly: cmd.ReadOnly,
		Step:    cmd.HTTPOnly() || cmd.Trigger || cmd.InRun,
		Allowed: cmd.Allows(user),
		Lines: []string{
			verbOf(cmd), "curl -u " + user.Name + " " + curlOf(cmd, v.BaseURL+sluice.CommandPath+cmd.Name),
		},
	}
	const notGiven = "not given"
	for i := range view.Fields {
		at := &view.Fields[i]
		switch {
		case at.Input == "select":
			at.Choices[0].Label = notGiven
		case at.Hint == "" && !at.Required:
			at.Hint = notGiven
		}
	}
	if at := view.Find("provider"); at != nil {
		known, err := page.AskIfAllowed[command.Page[sluice.ProviderView]](v, "provider.get")
		if err != nil || known.Items == nil {
			return view, err
		}
		at.Input, at.Choices = "select", []page.Choice{{Label: notGiven}}
		for _, sender := range known.Items {
			at.Choices = append(at.Choices, page.Choice{Value: sender.Provider, Label: sender.Title})
		}
	}
	return view, nil
}

// commandRun calls a command with what was entered, and shows its output.
func commandRun(v *page.Visit, cmd command.Command) error {
	output, next, err := v.Document(cmd.Name, page.ArgsOf(cmd, v.R.PostForm))
	if err != nil && !page.IsMistake(err) {
		return err
	}
	view, failure := commandViewOf(v, cmd, v.R.PostForm, err)
	if failure != nil {
		return failure
	}
	if err != nil {
		return v.ShowAs(problem.Status(err), "command", cmd.Name, view)
	}
	view.Ran, view.Output = true, partsOf(page.PrettyUpTo(output, page.MaxOutput))
	if at := view.Find("after"); at != nil && next != "" {
		view.More, at.Value = true, next
	}
	return v.Show("command", cmd.Name, view)
}
