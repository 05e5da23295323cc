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

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/view"
)

func commandCommand(t *terminal) *cobra.Command {
	var body, contentType string
	cmd := &cobra.Command{
		Use:   "command [NAME [key=value]...]",
		Short: "Call a command of the server, or list those it has",
		Long:  "Call a command of the server. Without a name the server's commands are listed; sluice command NAME --help explains one.\n\nA parameter is given as key=value. key=@file takes the value from a file, key=@- from standard input; key=@@x is a value that begins with @.",
		Example: "  sluice command webhook.put eventKey=webhook.lead.created payloadType=raw\n" +
			"  sluice command pipeline.put name=leads --body leads.yaml",
		ValidArgsFunction: t.completeCommand,
		RunE: t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if len(args) == 0 {
				described, err := c.Describe(cmd.Context())
				if err != nil {
					return err
				}
				return t.showValue(described.Commands, view.Columns("name", "summary")...)
			}
			params, err := t.pairs(args[1:])
			if err != nil {
				return err
			}
			carried, err := t.carried(cmd, body, contentType)
			if err != nil {
				return err
			}
			return t.callCommand(cmd.Context(), c, args[0], params, carried)
		}),
	}
	cmd.Flags().StringVar(&body, "body", "", "body of the call: JSON text, a file, or - for standard input")
	cmd.Flags().StringVar(&contentType, "content-type", "", "type of the body (default: the server looks)")
	general := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if names := cmd.Flags().Args(); len(names) > 0 && cmd.Name() == "command" {
			t.helpFailed = t.explainCommand(cmd.Context(), cmd.OutOrStdout(), names[0])
			return
		}
		general(cmd, args)
	})
	return cmd
}

// carried returns the body that the flag --body names, nil if it is not set.
func (t *terminal) carried(cmd *cobra.Command, file, contentType string) (*client.Body, error) {
	if !cmd.Flags().Changed("body") {
		return nil, nil
	}
	content, err := t.readBody(file)
	if err != nil {
		return nil, err
	}
	return &client.Body{Content: content, ContentType: contentType}, nil
}

func (t *terminal) callCommand(ctx context.Context, c *client.Client, name string, params url.Values, body *client.Body) error {
	inQuery := slices.ContainsFunc(t.commands, func(known client.Command) bool { return known.Name == name && known.InQuery })
	if body == nil && inQuery {
		body = &client.Body{} // with a body, even an empty one, parameters go in the query
	}
	answer, err := c.Command(ctx, name, params, body)
	if err != nil {
		return err
	}
	if t.none(answer.Body, "Nothing found.") {
		return nil
	}
	if err := t.show(answer.Body); err != nil {
		return err
	}
	if next := nextPage(answer); next != "" {
		fmt.Fprintf(t.err, "There is more: add after=%s\n", view.Printable(next))
	}
	return nil
}

// explainCommand writes the help of one of the server's commands.
func (t *terminal) explainCommand(ctx context.Context, w io.Writer, name string) error {
	c, err := t.connect()
	if err != nil {
		return err
	}
	described, err := c.Describe(ctx)
	if err != nil {
		return err
	}
	cmd, err := described.Find(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n  sluice command %s", view.Printable(cmd.Summary), view.Printable(name))
	for _, p := range cmd.Params {
		if p.Required {
			fmt.Fprintf(w, " %s=…", p.Name)
		}
	}
	if len(cmd.Params) > 0 {
		fmt.Fprint(w, " [key=value]…")
	}
	if cmd.Body != "" {
		fmt.Fprint(w, " [--body FILE]")
	}
	fmt.Fprintln(w)
	if len(cmd.Params) > 0 {
		fmt.Fprint(w, "\nParameters:\n")
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, p := range cmd.Params {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", p.Name, takes(p), view.Printable(p.Doc))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if cmd.Body != "" {
		fmt.Fprintf(w, "\nBody:\n  %s\n", view.Printable(cmd.Body))
	}
	return nil
}

// takes returns in a few words which values a parameter takes.
func takes(p client.Param) string {
	text := cmp.Or(strings.Join(p.Enum, "|"), p.Type, "any")
	if p.Required {
		text += ", required"
	}
	if p.Alias != "" {
		text += ", also " + p.Alias
	}
	return text
}
