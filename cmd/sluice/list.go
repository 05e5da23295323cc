package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"sluice/client"
	"sluice/spelling"
)

// A list is a verb that shows the things a command lists.
type list struct {
	command string
	without []string // parameters without a flag
	none    string   // text for an empty list
	things  string   // what is listed, in the plural; "" means that the text is also right where flags select
	page    string   // of the portal
	columns []column
}

// verb makes a verb that lists.
func (l list) verb(t *terminal, use, short string) *cobra.Command {
	var params *parameters
	var open bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			values, err := params.values()
			if err != nil {
				return err
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			if open {
				return t.open(cmd.Context(), c, l.page)
			}
			return l.show(cmd.Context(), t, c, values)
		},
	}
	params = t.declare(cmd, l.command, l.without...)
	if l.page != "" {
		t.addOpen(cmd, &open)
	}
	return cmd
}

func (l list) show(ctx context.Context, t *terminal, c *client.Client, params url.Values) error {
	answer, err := c.Command(ctx, l.command, params, nil)
	if err != nil {
		return err
	}
	none := l.none
	if selected := selection(params); selected != "" && l.things != "" {
		none = "No " + l.things + " fit " + selected + "."
	}
	if t.none(answer.Body, printable(none)) {
		t.meant(ctx, c, params)
		return nil
	}
	return l.print(t, answer)
}

// selection returns in words what the flags of a list select, "" if that is
// everything.
func selection(params url.Values) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		switch name {
		case "limit", "after", "brief": // they select nothing
		case "from", "to":
			parts = append(parts, "the span of time")
		default:
			parts = append(parts, "--"+kebab(name)+" "+params.Get(name))
		}
	}
	return strings.Join(slices.Compact(parts), " and ")
}

// meant tells people which name they may have meant, where a parameter names
// something that is not there.
func (t *terminal) meant(ctx context.Context, c *client.Client, params url.Values) {
	for name := range params {
		list, ok := named[name]
		if !ok {
			continue
		}
		names, _ := namesOf(ctx, c, list[0], list[1]) // without them there is nothing to say
		given := params.Get(name)
		if near := spelling.Nearest(given, names); near != "" && !slices.Contains(names, given) {
			t.note(printable("There is no " + given + "; did you mean " + near + "?"))
		}
	}
}

// print shows a page, and how to get the next one.
func (l list) print(t *terminal, answer client.Answer) error {
	if t.none(answer.Body, l.none) {
		return nil
	}
	if err := t.show(answer.Body, l.columns...); err != nil {
		return err
	}
	if next := nextPage(answer); next != "" {
		fmt.Fprintf(t.err, "There is more: add --after %s\n", printable(next))
	}
	return nil
}

// none tells people that a list is empty. Programs see that in the document.
func (t *terminal) none(document []byte, text string) bool {
	form, err := t.form()
	root, parseErr := parseJSON(document)
	if err != nil || parseErr != nil || form != "table" {
		return false
	}
	if items := fieldOf(root, "items"); items != nil {
		root = items
	}
	if root.Kind != yaml.SequenceNode || len(root.Content) > 0 {
		return false
	}
	fmt.Fprintln(t.err, text)
	return true
}

// note tells people something beside the answer.
func (t *terminal) note(text string) {
	if form, err := t.form(); err == nil && form == "table" {
		fmt.Fprintln(t.err, text)
	}
}

func hasParam(c client.Command, name string) bool {
	return slices.ContainsFunc(c.Params, func(p client.Param) bool { return p.Name == name })
}
