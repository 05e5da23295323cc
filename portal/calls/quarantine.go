package calls

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/portal/page"
)

// A quarantineView is the list of rejected calls that are kept.
type quarantineView struct {
	Groups []quarantineGroup
	Items  []quarantined
	Next   string
}

// A quarantineGroup is the calls of a webhook that were rejected with one code and diagnosis.
type quarantineGroup struct {
	EventKey, Code, Finding string
	Count                   int
	First                   time.Time // of the oldest call
	Latest                  quarantined
	IDs                     []string
}

func quarantinePage(v *page.Visit) error {
	found := RejectedCalls(v, v.Asked("eventKey", "code"))
	view := quarantineView{Next: v.Next(found.Next)}
	for _, item := range found.Items {
		view.Items = append(view.Items, quarantined{item})
	}
	const counted = "1000"
	all := RejectedCalls(v, page.Picked(v.R.URL.Query(), "eventKey", "code"), "limit", counted)
	view.Groups = groupsOf(all.Items)
	return v.Show("quarantine", "Quarantine", view)
}

// groupsOf groups calls by webhook, code and diagnosis, the largest group first.
func groupsOf(items []sluice.QuarantineView) (groups []quarantineGroup) {
	for _, item := range items {
		finding := strings.Join(quarantined{item}.Findings(), " ")
		i := slices.IndexFunc(groups, func(g quarantineGroup) bool {
			return g.EventKey == item.EventKey && g.Code == item.Code && g.Finding == finding
		})
		if i < 0 {
			i = len(groups)
			// they come newest first
			groups = append(groups, quarantineGroup{
				EventKey: item.EventKey, Code: item.Code, Finding: finding, Latest: quarantined{item},
			})
		}
		groups[i].Count++
		groups[i].IDs = append(groups[i].IDs, item.ID)
		groups[i].First = item.Time
	}
	slices.SortStableFunc(groups, func(a, b quarantineGroup) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

// quarantineSelected admits or deletes the selected calls.
func quarantineSelected(v *page.Visit) error {
	b, about, err := selection(v, "id", "rejected call")
	if err != nil {
		return err
	}
	return quarantineBulk(v, b, about)
}

// quarantineOfGroup admits or deletes all calls of a group.
func quarantineOfGroup(v *page.Visit) error {
	key, code := v.Entered("eventKey"), v.Entered("code")
	return quarantineBulk(v, &bulk{args: page.Args("eventKey", key, "code", code)}, page.Confirmation{
		Name: "all of " + key + " with the code " + code, What: "rejected call", Several: v.Entered("count") != "1",
		Field: "eventKey", Values: []string{key}, Code: code,
	})
}

// quarantineBulk admits calls, or deletes them after a confirmation.
func quarantineBulk(v *page.Visit, b *bulk, about page.Confirmation) error {
	b.Verb, b.What, b.command = "admitted", "call", "quarantine.admit"
	b.List, b.Back = "Quarantine", "/quarantine"
	switch v.Entered("do") {
	case "delete":
		about.Effect = "It can’t be undone: what was sent can’t be looked at or admitted any more."
		return b.delete(v, "quarantine.delete", about)
	case "force":
		b.args = append(b.args, page.Args("force", true)...)
	}
	return b.do(v)
}

// RejectedCalls returns calls of the quarantine without their payloads.
func RejectedCalls(v *page.Visit, given ...any) sluice.List[sluice.QuarantineView] {
	return page.Ask[sluice.List[sluice.QuarantineView]](v, "quarantine.get", page.Args(given...), "brief", true)
}
