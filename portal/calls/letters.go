package calls

import (
	"net/url"
	"slices"

	"sluice"
	"sluice/portal/page"
)

// A lettersView is the list of dead letters.
type lettersView struct {
	Groups []letterGroup
	Items  []sluice.DeadLetter
	Next   string
}

// A letterGroup is the dead letters of a pipeline with one code.
type letterGroup struct {
	sluice.DeadLetterGroup

	Detail string // of the newest one; "" if that is not on the page
}

func lettersPage(v *page.Visit) error {
	found := page.Ask[sluice.List[sluice.DeadLetter]](v, "deadletter.get", v.Asked("pipeline", "code"))
	view := lettersView{Items: found.Items, Next: v.Next(found.Next)}
	code := v.Query("code")
	groups := page.AskIfAllowed[sluice.List[sluice.DeadLetterGroup]](v, "deadletter.groups",
		"pipeline", v.Query("pipeline"))
	for _, g := range groups.Items {
		if code != "" && g.Code != code {
			continue
		}
		group := letterGroup{DeadLetterGroup: g}
		newest := func(l sluice.DeadLetter) bool { return l.Pipeline == g.Pipeline && l.Error.Code == g.Code }
		if i := slices.IndexFunc(view.Items, newest); i >= 0 {
			group.Detail = view.Items[i].Error.Detail
		}
		view.Groups = append(view.Groups, group)
	}
	return v.Show("letters", "Dead letters", view)
}

// letterEffect says what deleting a dead letter means.
const letterEffect = "It can’t be undone. The calls themselves stay: replay them from Calls as long as they are kept."

// lettersSelected replays or deletes the selected dead letters.
func lettersSelected(v *page.Visit) error {
	b, about, err := selection(v, "letter", "dead letter")
	if err != nil {
		return err
	}
	return lettersBulk(v, b, about)
}

// lettersOfGroup replays or deletes all dead letters of a group.
func lettersOfGroup(v *page.Visit) error {
	pipeline, code := v.Entered("pipeline"), v.Entered("code")
	about := pipeline
	if code != "" {
		about += " with the code " + code
	}
	b := &bulk{About: "of " + about, args: page.Args("pipeline", pipeline, "code", code)}
	return lettersBulk(v, b, page.Confirmation{
		Name: "all of " + about, What: "dead letter", Several: true,
		Field: "pipeline", Values: []string{pipeline}, Code: code,
	})
}

// lettersBulk replays dead letters, or deletes them after a confirmation.
func lettersBulk(v *page.Visit, b *bulk, about page.Confirmation) error {
	b.Verb, b.What, b.command = "replayed", "dead letter", "deadletter.replay"
	b.List, b.Back = "Dead letters", "/deadletters"
	b.replays = url.Values{"pipeline": {v.Entered("pipeline")}, "letters": {"yes"}}
	if v.Entered("do") == "delete" {
		about.Effect = letterEffect
		return b.delete(v, "deadletter.delete", about)
	}
	return b.do(v)
}
