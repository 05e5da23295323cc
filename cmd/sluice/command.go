package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/command"
	"sluice/spelling"
)

func (t *cli) command(ctx context.Context) error {
	if len(t.Args) == 0 {
		return t.listCommands()
	}
	params, err := t.Pairs(t.Args[1:])
	if err != nil {
		return err
	}
	body, err := t.carried()
	if err != nil {
		return err
	}
	if err := t.Connect(); err != nil {
		return err
	}
	return t.callCommand(ctx, t.Args[0], params, body)
}

// listCommands shows the commands that this program knows.
func (t *cli) listCommands() error {
	type line struct {
		Name     string `json:"name"`
		Summary  string `json:"summary"`
		ReadOnly bool   `json:"readOnly"`
	}
	all := t.Commands.All()
	lines := make([]line, 0, len(all))
	for _, c := range all {
		lines = append(lines, line{c.Name, c.Summary, c.ReadOnly})
	}
	return t.ShowValue(lines, view.Columns("name", "summary")...)
}

// carried returns the body that the flag --body names, nil if it is not set.
func (t *cli) carried() (*client.Body, error) {
	if !t.Cmd.Flags().Changed("body") {
		return nil, nil
	}
	content, err := t.ReadBody(t.Text("body"))
	if err != nil {
		return nil, err
	}
	return &client.Body{Content: content, ContentType: t.Text("content-type")}, nil
}

func isBody(p command.Param) bool { return p.Body == command.BodyOnly }

func (t *cli) callCommand(ctx context.Context, name string, params url.Values, body *client.Body) error {
	if known, _ := t.Commands.Find(name); body == nil && slices.ContainsFunc(known.Params, isBody) {
		body = &client.Body{} // with a body, even an empty one, parameters go in the query
	}
	answer, err := t.Server.Command(ctx, name, params, body)
	if err != nil {
		return err
	}
	if t.None(answer.Body, "Nothing found.") {
		return nil
	}
	return t.PrintPage(answer, "after=")
}

// explainCommand writes the help of a command of the server.
func (t *cli) explainCommand(w io.Writer, name string) error {
	known, ok := t.Commands.Find(name)
	if !ok {
		hint := spelling.Hint(name, t.Commands.Names(), "sluice command lists those that it knows.")
		return sluice.CodeCommandUnknown.Errorf("This program knows no command %s; %s", name, hint)
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n  sluice command %s", known.Summary, name)
	var named, bodies []command.Param
	for _, p := range known.Params {
		switch {
		case isBody(p):
			bodies = append(bodies, p)
		case p.Required:
			fmt.Fprintf(w, " %s=…", p.Name)
			fallthrough
		default:
			named = append(named, p)
		}
	}
	if len(named) > 0 {
		fmt.Fprint(w, " [key=value]…")
	}
	if len(bodies) > 0 {
		fmt.Fprint(w, " [--body FILE]")
	}
	fmt.Fprintln(w)
	if len(named) > 0 {
		fmt.Fprint(w, "\nParameters:\n")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range named {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", p.Name, takes(p), p.Doc)
	}
	err := table.Flush()
	for _, p := range bodies {
		fmt.Fprintf(w, "\nBody:\n  %s\n", p.Doc)
	}
	return err
}

// takes returns in a few words which values a parameter takes.
func takes(p command.Param) string {
	text := cmp.Or(strings.Join(p.Enum, "|"), p.Type, "any")
	if p.Required {
		text += ", required"
	}
	if p.Alias != "" {
		text += ", also " + p.Alias
	}
	return text
}
