package portal

import (
	"net/http"
	"net/url"
	"slices"

	"sluice"
)

type letterListView struct {
	Pipeline, Code string
	Groups         []letterGroup
	Items          []sluice.DeadLetter
	Next           string
}

// A letterGroup is the dead letters of a pipeline with one code.
type letterGroup struct {
	sluice.DeadLetterGroup

	Detail string // of the newest one; "" if that is not on the page
}

// Several reports whether there are several groups.
func (v letterListView) Several() bool { return len(v.Groups) > 1 }

func (p *Portal) letterList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := letterListView{Pipeline: query.Get("pipeline"), Code: query.Get("code")}
	found, err := ask[sluice.List[sluice.DeadLetter]](p, r, "deadletter.get", args("pipeline", view.Pipeline, "code", view.Code, "limit", pageSize, "after", query.Get("after")))
	if err != nil {
		return err
	}
	view.Items, view.Next = found.Items, p.nextPage(r, found.Next)
	if p.allows(r, "deadletter.groups") {
		groups, err := ask[sluice.List[sluice.DeadLetterGroup]](p, r, "deadletter.groups", args("pipeline", view.Pipeline))
		if err != nil {
			return err
		}
		for _, g := range groups.Items {
			if view.Code != "" && g.Code != view.Code {
				continue
			}
			group := letterGroup{DeadLetterGroup: g}
			if i := slices.IndexFunc(view.Items, func(l sluice.DeadLetter) bool { return l.Pipeline == g.Pipeline && l.Error.Code == g.Code }); i >= 0 {
				group.Detail = view.Items[i].Error.Detail
			}
			view.Groups = append(view.Groups, group)
		}
	}
	return p.render(w, r, http.StatusOK, "letters", "Dead letters", view)
}

// letterEffect says what deleting a dead letter means.
const letterEffect = "It can’t be undone. The calls themselves stay: replay them from Calls as long as they are kept."

// lettersSelected replays or deletes the selected dead letters.
func (p *Portal) lettersSelected(w http.ResponseWriter, r *http.Request) error {
	letters, err := selected(r, "letter")
	if err != nil {
		return err
	}
	b := &bulk{
		Verb: "replayed", What: [2]string{"dead letter", "dead letters"}, List: "Dead letters", Back: "/deadletters",
		command: "deadletter.replay", field: "letter", names: letters, replays: url.Values{"letters": {"yes"}},
	}
	return p.lettersBulk(w, r, b, confirmation{
		Name: plural(len(letters), "dead letter", "dead letters"), Several: len(letters) != 1, Action: "/deadletters/selected", Field: "letter", Values: letters,
	})
}

// lettersBulk replays dead letters, or deletes them after a confirmation.
func (p *Portal) lettersBulk(w http.ResponseWriter, r *http.Request, b *bulk, about confirmation) error {
	if r.PostForm.Get("do") != "delete" {
		return p.bulk(w, r, b)
	}
	b.Verb, b.command, b.replays = "deleted", "deadletter.delete", nil
	about.What, about.Back, about.Effect = "dead letter", "/deadletters", letterEffect
	return p.deleteSelected(w, r, about, b)
}

func (p *Portal) lettersOfGroup(w http.ResponseWriter, r *http.Request) error {
	pipeline, code := r.PostForm.Get("pipeline"), r.PostForm.Get("code")
	about := pipeline
	if code != "" {
		about += " with the code " + code
	}
	b := &bulk{
		Verb: "replayed", What: [2]string{"dead letter", "dead letters"}, About: "of " + about, List: "Dead letters", Back: "/deadletters",
		command: "deadletter.replay", args: args("pipeline", pipeline, "code", code), replays: url.Values{"pipeline": {pipeline}, "letters": {"yes"}},
	}
	return p.lettersBulk(w, r, b, confirmation{
		Name: "all of " + about, Several: true, Action: "/deadletters/group", Field: "pipeline", Values: []string{pipeline}, Code: code,
	})
}

// letter returns the dead letter that the path names.
func (p *Portal) letter(r *http.Request) (sluice.DeadLetter, error) {
	found, err := ask[sluice.List[sluice.DeadLetter]](p, r, "deadletter.get", args("letter", r.PathValue("letter")))
	if err == nil && len(found.Items) == 0 {
		err = sluice.Errorf(sluice.CodeLetterUnknown, "There is no such dead letter: it was replayed or deleted, or is too old.")
	}
	if err != nil {
		return sluice.DeadLetter{}, err
	}
	return found.Items[0], nil
}

// A letterView is the page of a dead letter.
type letterView struct {
	sluice.DeadLetter

	EditURL, EditText string // link to the line that failed; "" if the user can't edit it
}

func (p *Portal) letterPage(w http.ResponseWriter, r *http.Request, letter sluice.DeadLetter) error {
	view := letterView{DeadLetter: letter}
	source, err := p.editable(r, letter.Pipeline)
	if err != nil {
		return err
	}
	if source != nil {
		view.EditURL, view.EditText = p.editing(source, sluice.RunReport{Started: letter.Time, Error: &letter.Error}, letter.TraceID)
	}
	return p.render(w, r, http.StatusOK, "letter", "Dead letter "+letter.Letter, view)
}

func (p *Portal) letterReplay(w http.ResponseWriter, r *http.Request) error {
	again, err := ask[sluice.Replays](p, r, "deadletter.replay", args("letter", r.PathValue("letter")))
	if err != nil {
		return err
	}
	target := "/deadletters"
	if len(again.Items) > 0 && again.Items[0].TraceID != "" && p.allows(r, "trace.get") {
		target = "/calls/" + url.PathEscape(again.Items[0].TraceID)
	}
	return p.redirect(w, r, target+"?done=replayed")
}

func (p *Portal) letterConfirm(w http.ResponseWriter, r *http.Request, letter sluice.DeadLetter) error {
	path := "/deadletters/" + url.PathEscape(letter.Letter)
	return p.render(w, r, http.StatusOK, "confirm", "Delete dead letter "+letter.Letter, confirmation{
		Name: letter.TraceID + " in " + letter.Pipeline, What: "dead letter", Action: path + "/delete", Back: path,
		Effect: letterEffect,
	})
}

func (p *Portal) letterDelete(w http.ResponseWriter, r *http.Request) error {
	return p.runThen(w, r, "/deadletters?done=deleted", "deadletter.delete", args("letter", r.PathValue("letter")))
}
