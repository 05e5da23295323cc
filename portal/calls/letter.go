package calls

import (
	"net/url"

	"sluice"
	"sluice/portal/page"
)

// letterNamed returns the dead letter that the path names.
func letterNamed(v *page.Visit) (letter sluice.DeadLetter) {
	found := page.Ask[sluice.List[sluice.DeadLetter]](v, "deadletter.get", "letter", v.Named("letter"))
	if len(found.Items) > 0 {
		return found.Items[0]
	}
	v.Fail(sluice.CodeLetterUnknown.Errorf("There is no such dead letter: it was replayed or deleted, or is too old."))
	return letter
}

// A letterView is the page of a dead letter.
type letterView struct {
	sluice.DeadLetter

	EditURL, EditText string // link to the line that failed; "" if the user can't edit it
}

func letterPage(v *page.Visit, letter sluice.DeadLetter) error {
	view := letterView{DeadLetter: letter}
	if source := editable(v, letter.Pipeline); source != nil {
		view.EditURL, view.EditText = editing(v, source, sluice.RunReport{Started: letter.Time, Error: &letter.Error},
			letter.TraceID)
	}
	return v.Show("letter", "Dead letter "+letter.Letter, view)
}

func letterReplay(v *page.Visit) error {
	again := page.Ask[sluice.Replays](v, "deadletter.replay", "letter", v.Named("letter"))
	target := "/deadletters"
	if len(again.Items) > 0 && again.Items[0].TraceID != "" && v.May("trace.get") {
		target = callPath(again.Items[0].TraceID)
	}
	return v.Redirect(target + "?done=replayed")
}

func letterConfirm(v *page.Visit, letter sluice.DeadLetter) error {
	return v.Show("confirm", "Delete dead letter "+letter.Letter, page.Confirmation{
		Name: letter.TraceID + " in " + letter.Pipeline, What: "dead letter", Effect: letterEffect,
		Back: "/deadletters/" + url.PathEscape(letter.Letter),
	})
}

func letterDelete(v *page.Visit) error {
	return v.RunThen("/deadletters?done=deleted", "deadletter.delete", "letter", v.Named("letter"))
}
