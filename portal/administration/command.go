package administration

import (
	"slices"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

type commandView struct {
	page.Form
	command.Command

	Lines  []string // commands for a terminal
	Ran    bool
	Output []outputPart
	More   bool // the form asks for the next page
}

// Secrets reports whether the output has secrets.
func (c commandView) Secrets() bool {
	return slices.ContainsFunc(c.Output, func(part outputPart) bool { return part.Mask != "" })
}

func commandPage(v *page.Visit, cmd command.Command) error {
	return commandView{Form: page.FormOf(cmd, v.R.URL.Query(), nil), Command: cmd}.show(v)
}

// commandNamed returns the command that the path names.
func commandNamed(v *page.Visit) command.Command {
	cmd, ok := v.Commands.Find(v.Named("name"))
	if !ok {
		v.Fail(sluice.CodeCommandUnknown.Errorf("There is no such command."))
	}
	return cmd
}

// show completes the page of a command and shows it.
func (c commandView) show(v *page.Visit) error {
	c.Lines = []string{
		verbOf(c.Command),
		"curl -u " + v.User.Name + " " + curlOf(c.Command, v.BaseURL+sluice.CommandPath+c.Name),
	}
	const notGiven = "not given"
	for i := range c.Fields {
		at := &c.Fields[i]
		switch {
		case at.Input == "select":
			at.Choices[0].Label = notGiven
		case at.Hint == "" && !at.Required:
			at.Hint = notGiven
		}
	}
	if at := c.Find("provider"); at != nil {
		known := page.AskIfAllowed[[]sluice.ProviderView](v, "provider.get")
		if known != nil {
			at.Input, at.Choices = "select", []page.Choice{{Label: notGiven}}
		}
		for _, sender := range known {
			at.Choices = append(at.Choices, page.Choice{Value: sender.Provider, Label: sender.Title})
		}
	}
	return v.Show("command", c.Name, c)
}

// commandRun calls a command with what was entered, and shows its output.
func commandRun(v *page.Visit, cmd command.Command) error {
	output, next, err := v.Document(cmd.Name, page.ArgsOf(cmd, v.R.PostForm))
	v.Mistake(err)
	view := commandView{Form: page.FormOf(cmd, v.R.PostForm, err), Command: cmd}
	if err == nil {
		view.Ran, view.Output = true, partsOf(page.PrettyUpTo(output, page.MaxOutput))
	}
	if at := view.Find("after"); at != nil && next != "" {
		view.More, at.Value = true, next
	}
	return view.show(v)
}
