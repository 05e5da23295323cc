package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/client"
)

func commandCommand(t *terminal) *cobra.Command {
	var body, contentType string
	cmd := &cobra.Command{
		Use:   "command [NAME [key=value]...]",
		Short: "Call a command of the server, or list those it has",
		Long: "Call a command of the server. Without a name the server's commands are listed;\n" +
			"sluice command NAME --help explains one.\n\n" +
			"A parameter is given as key=value. key=@file takes the value from a file, key=@- from standard\n" +
			"input; key=@@x is a value that begins with @.",
		Example: "  sluice command webhook.put eventKey=webhook.lead.created payloadType=raw\n" +
			"  sluice command pipeline.put name=leads --body leads.yaml",
		ValidArgsFunction: t.completeCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.connect()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return t.listCommands(cmd.Context(), c)
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
		},
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

// carried returns the body that the flag of a command names, nil if it is not
// set.
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
		body = &client.Body{} // with a body, even an empty one, parameters are in the query
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
		fmt.Fprintf(t.err, "There is more: add after=%s\n", printable(next))
	}
	return nil
}

// nextPage returns the cursor of the page after an answer, if there is one.
func nextPage(answer client.Answer) string {
	if link := answer.Header.Get("Link"); strings.Contains(link, `rel="next"`) {
		target, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if u, err := url.Parse(target); err == nil {
			return u.Query().Get("after")
		}
	}
	root, err := parseJSON(answer.Body)
	if err != nil || fieldOf(root, "items") == nil || fieldOf(root, "next") == nil {
		return ""
	}
	return fieldOf(root, "next").Value
}

func (t *terminal) listCommands(ctx context.Context, c *client.Client) error {
	described, err := c.Describe(ctx)
	if err != nil {
		return err
	}
	return t.showValue(described.Commands, columnsOf("name", "summary")...)
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
	fmt.Fprintf(w, "%s\n\nUsage:\n  sluice command %s", printable(cmd.Summary), printable(name))
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
			fmt.Fprintf(table, "  %s\t%s\t%s\n", p.Name, takes(p), printable(p.Doc))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if cmd.Body != "" {
		fmt.Fprintf(w, "\nBody:\n  %s\n", printable(cmd.Body))
	}
	return nil
}

// takes returns in a few words which values a parameter takes.
func takes(p client.Param) string {
	kind := firstOf(strings.Join(p.Enum, "|"), p.Type, "any")
	if p.Required {
		kind += ", required"
	}
	if p.Alias != "" {
		kind += ", also " + p.Alias
	}
	return kind
}
