package terminal

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
)

// ShowList shows what the parameters of the verb select of what its command lists, or says to people that
// nothing is there. The columns are those that people see.
func (t *Terminal) ShowList(ctx context.Context, columns []view.Column) error {
	answer, err := t.Call(ctx)
	if err != nil {
		return err
	}
	none := t.Verb.None
	if selected := selection(t.Params); selected != "" && t.Verb.Things != "" {
		none = "No " + t.Verb.Things + " fit " + selected + "."
	}
	if t.None(answer.Body, none) {
		t.meant(ctx)
		return nil
	}
	return t.PrintPage(answer, "--after ", columns...)
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
			parts = append(parts, "--"+FlagOf(name)+" "+params.Get(name))
		}
	}
	return strings.Join(slices.Compact(parts), " and ")
}

// PrintPage shows a page of a list, and what to add for the next one: its cursor, after more.
func (t *Terminal) PrintPage(answer client.Answer, more string, columns ...view.Column) error {
	if err := t.Show(answer.Body, columns...); err != nil {
		return err
	}
	if next := nextPage(answer); next != "" {
		t.Sayf("There is more: add %s%s", more, next)
	}
	return nil
}

// None says to people that a list is empty. Programs see it in the document.
func (t *Terminal) None(document []byte, text string) bool {
	root, err := view.Parse(document)
	if err != nil || !t.ForPeople() || view.Items(root) == nil || len(view.Items(root).Content) > 0 {
		return false
	}
	t.Sayf("%s", text)
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
