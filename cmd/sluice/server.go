package main

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"sluice/client"
)

func auditCommand(t *terminal) *cobra.Command {
	cmd := list{
		command: "audit.get", page: "/audit", none: "Nothing of that kind stands in the audit log.",
		columns: columnsOf("time", "username", "command", "target", "outcome", "address", "count"),
	}.verb(t, "audit", "Read who did what, newest first")
	cmd.Example = "  sluice audit --since 1h --username admin"
	cmd.Args = orVerb
	cmd.AddCommand(auditVerify(t))
	return cmd
}

func auditVerify(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed, taken out or put in", Args: arguments(0, 0, ""),
		RunE: t.connected(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			answer, err := c.Command(cmd.Context(), "audit.verify", nil, nil)
			if err != nil {
				return err
			}
			var found struct{ Breaks []any }
			if err := json.Unmarshal(answer.Body, &found); err != nil {
				return err
			}
			if err := t.show(answer.Body); err != nil {
				return err
			}
			if len(found.Breaks) > 0 {
				return &failure{code: exitConflict, message: "The audit log was tampered with: its chain breaks in " + counted(len(found.Breaks), "place") + "."}
			}
			return nil
		}),
	}
}

func statsCommand(t *terminal) *cobra.Command {
	var open bool
	cmd := &cobra.Command{Use: "stats", Short: "See what the server is doing", Args: arguments(0, 0, "")}
	t.addOpen(cmd, &open)
	return t.calling(cmd, "server.stats", func(cmd *cobra.Command, c *client.Client, values url.Values, _ []string) error {
		if open {
			return t.open(cmd.Context(), c, "/")
		}
		answer, err := c.Command(cmd.Context(), "server.stats", values, nil)
		if err != nil {
			return err
		}
		return t.write(answer.Body, func(w io.Writer, root *yaml.Node) error {
			for _, name := range []string{"minutes", "hours"} {
				if figures := fieldOf(root, name); figures != nil {
					tabulate(figures)
				}
			}
			return t.view().account(w, root, "")
		})
	})
}

// figureNames are what people call the figures of a minute. Everywhere on the
// command line, a failed call is one that a pipeline failed on.
var figureNames = map[string]string{"failed": "notTaken", "errors": "failed", "runErrors": "failedRuns"}

// tabulate makes minutes or hours fit a table: without idle ones, and narrow.
func tabulate(figures *yaml.Node) {
	figures.Content = slices.DeleteFunc(figures.Content, isIdle)
	for _, minute := range figures.Content {
		dropField(minute, "webhooks") // too wide; --json shows them
		for i := 0; i+1 < len(minute.Content); i += 2 {
			if name := figureNames[minute.Content[i].Value]; name != "" {
				minute.Content[i].Value = name
			}
		}
	}
}

// isIdle reports whether nothing was counted in a minute.
func isIdle(minute *yaml.Node) bool {
	for i := 0; i+1 < len(minute.Content); i += 2 {
		if count, ok := numberOf(minute.Content[i+1]); ok && count != 0 {
			return false
		}
	}
	return true
}
