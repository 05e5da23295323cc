package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
)

// A list is a verb that shows what a command lists.
type list struct {
	command string
	without []string // parameters without a flag
	none    string   // text for an empty list
	things  string   // the plural of what is listed; "" if the text above fits selections, too
	page    string   // of the portal
	columns []view.Column
}

func (l list) verb(t *terminal, use, short string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	t.calling(cmd, l.command, func(ctx context.Context, values url.Values, _ []string) error {
		if t.opens {
			return t.open(ctx, l.page)
		}
		return l.show(ctx, t, values)
	}, l.without...)
	if l.page != "" {
		t.addOpen(cmd)
	}
	return cmd
}

func (l list) show(ctx context.Context, t *terminal, params url.Values) error {
	answer, err := t.server.Command(ctx, l.command, params, nil)
	if err != nil {
		return err
	}
	none := l.none
	if selected := selection(params); selected != "" && l.things != "" {
		none = "No " + l.things + " fit " + selected + "."
	}
	if t.none(answer.Body, view.Printable(none)) {
		t.meant(ctx, params)
		return nil
	}
	return l.print(t, answer)
}

// selection returns in words what flags select, "" if they select everything.
func selection(params url.Values) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		switch name {
		case "limit", "after", "brief": // these don't select
		case "from", "to":
			parts = append(parts, "the span of time")
		default:
			parts = append(parts, "--"+kebab(name)+" "+params.Get(name))
		}
	}
	return strings.Join(slices.Compact(parts), " and ")
}

// print shows a page, and how to get the next one.
func (l list) print(t *terminal, answer client.Answer) error {
	if err := t.show(answer.Body, l.columns...); err != nil {
		return err
	}
	if next := nextPage(answer); next != "" {
		fmt.Fprintf(t.err, "There is more: add --after %s\n", view.Printable(next))
	}
	return nil
}

// none says to people that a list is empty. Programs see it in the document.
func (t *terminal) none(document []byte, text string) bool {
	root, err := view.Parse(document)
	if err != nil || !t.forPeople() {
		return false
	}
	if items := view.Items(root); items == nil || len(items.Content) > 0 {
		return false
	}
	fmt.Fprintln(t.err, text)
	return true
}

// nextPage returns the cursor of the next page, "" at the end.
func nextPage(answer client.Answer) string {
	if link := answer.Header.Get("Link"); strings.Contains(link, `rel="next"`) {
		target, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if u, err := url.Parse(target); err == nil {
			return u.Query().Get("after")
		}
	}
	var page sluice.List[json.RawMessage]
	if json.Unmarshal(answer.Body, &page) != nil || page.Items == nil {
		return ""
	}
	return page.Next
}
