package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sluice"
)

// deadLetters is the answer of deadletter.get.
type deadLetters struct {
	Items []sluice.DeadLetter `json:"items"`
	Next  string              `json:"next"`
}

type letterListView struct {
	Pipeline, Code string
	Groups         []letterGroup
	Items          []sluice.DeadLetter
	Next           string
}

// A letterGroup is the dead letters of a pipeline with the same code.
type letterGroup struct {
	sluice.DeadLetterGroup

	Detail string // of the newest of them; "" if that is not on the page
}

// Several reports whether there are other groups than one.
func (v letterListView) Several() bool { return len(v.Groups) > 1 }

func (p *Portal) letterList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := letterListView{Pipeline: query.Get("pipeline"), Code: query.Get("code")}
	found, err := ask[deadLetters](p, r, "deadletter.get", args("pipeline", view.Pipeline, "code", view.Code, "limit", pageSize, "after", query.Get("after")))
	if err != nil {
		return err
	}
	view.Items, view.Next = found.Items, p.nextPage(r, found.Next)
	if p.may(sluice.UserFrom(r.Context()), "deadletter.groups") {
		groups, err := ask[struct {
			Items []sluice.DeadLetterGroup `json:"items"`
		}](p, r, "deadletter.groups", args("pipeline", view.Pipeline))
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

// letterEffect says what remains of a dead letter that is deleted.
const letterEffect = "It can’t be undone. The calls themselves stay: replay them from Calls as long as they are kept."

// lettersSelected replays or deletes the dead letters that were ticked.
func (p *Portal) lettersSelected(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	letters, err := selected(r, "letter")
	if err != nil {
		return err
	}
	if r.PostForm.Get("do") == "delete" {
		return p.deleteSelected(w, r, "deadletter.delete", confirmation{
			Name: plural(len(letters), "dead letter", "dead letters"), What: "dead letter", Several: len(letters) != 1, Action: "/deadletters/selected", Back: "/deadletters",
			Effect: letterEffect, Field: "letter", Values: letters,
		})
	}
	view, since := &outcomes{Verb: "replayed", What: [2]string{"dead letter", "dead letters"}, List: "Dead letters", Back: "/deadletters"}, time.Now()
	err = view.each(letters, func(letter string) (outcome, error) {
		trace, err := p.replayLetter(r, letter)
		return outcome{Name: letter, Link: "/calls/" + url.PathEscape(trace), Text: trace}, err
	})
	if err != nil {
		return err
	}
	return p.showReplayed(w, r, view, since, "letters", "yes")
}

// A bulkView says how far a replay or deletion of many has come. It goes on in
// steps, so that people see that it does.
type bulkView struct {
	Pipeline, Code, Do string
	Done, Skipped      int
	Since              string // when it began
	After              string // where to go on; "" at the end
}

// lettersOfGroup replays or deletes a part of a group, and says how far it has
// come.
func (p *Portal) lettersOfGroup(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	form := r.PostForm
	view := bulkView{Pipeline: form.Get("pipeline"), Code: form.Get("code"), Do: form.Get("do"), Since: form.Get("since")}
	if view.Do == "delete" && form.Get("sure") == "" {
		return p.render(w, r, http.StatusOK, "confirm", "Delete dead letters", confirmation{
			Name: "all of " + view.Pipeline + " with the code " + view.Code, What: "dead letter", Several: true, Action: "/deadletters/group", Back: "/deadletters",
			Effect: letterEffect, Field: "pipeline", Values: []string{view.Pipeline}, Code: view.Code,
		})
	}
	since, err := time.Parse(time.RFC3339Nano, view.Since)
	if err != nil {
		since = time.Now().UTC()
		view.Since = since.Format(time.RFC3339Nano)
	}
	view.Done, _ = strconv.Atoi(form.Get("done"))
	view.Skipped, _ = strconv.Atoi(form.Get("skipped"))
	const step = "100"
	command := "deadletter.replay"
	if view.Do == "delete" {
		command = "deadletter.delete"
	}
	did, err := ask[struct {
		Replayed int    `json:"replayed"`
		Deleted  int    `json:"deleted"`
		Skipped  int    `json:"skipped"`
		Next     string `json:"next"`
	}](p, r, command, args("pipeline", view.Pipeline, "code", view.Code, "limit", step, "after", form.Get("after")))
	if err != nil {
		return err
	}
	view.Done += did.Replayed + did.Deleted
	view.Skipped += did.Skipped
	if view.After = did.Next; view.After == "" && view.Do != "delete" {
		p.redirect(w, r, replayedPath(since, view.Done, "pipeline", view.Pipeline, "skipped", strconv.Itoa(view.Skipped), "letters", "yes"))
		return nil
	}
	return p.render(w, r, http.StatusOK, "bulk", "Dead letters", view)
}

// letter returns the dead letter that the path names.
func (p *Portal) letter(r *http.Request) (sluice.DeadLetter, error) {
	found, err := ask[deadLetters](p, r, "deadletter.get", args("letter", r.PathValue("letter")))
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

	EditURL, EditText string // the way to where it failed; "" if the user can't edit it
}

func (p *Portal) letterPage(w http.ResponseWriter, r *http.Request) error {
	letter, err := p.letter(r)
	if err != nil {
		return err
	}
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

// replayLetter sends the event of a dead letter again, and returns the trace id
// of the new one.
func (p *Portal) replayLetter(r *http.Request, letter string) (string, error) {
	again, err := ask[struct {
		Items []struct {
			TraceID string `json:"traceId"`
		} `json:"items"`
	}](p, r, "deadletter.replay", args("letter", letter))
	if err != nil || len(again.Items) == 0 {
		return "", err
	}
	return again.Items[0].TraceID, nil
}

func (p *Portal) letterReplay(w http.ResponseWriter, r *http.Request) error {
	trace, err := p.replayLetter(r, r.PathValue("letter"))
	if err != nil {
		return err
	}
	if trace != "" && p.may(sluice.UserFrom(r.Context()), "trace.get") {
		p.redirect(w, r, "/calls/"+url.PathEscape(trace)+"?done=replayed")
		return nil
	}
	p.redirect(w, r, "/deadletters?done=replayed")
	return nil
}

func (p *Portal) letterConfirm(w http.ResponseWriter, r *http.Request) error {
	letter, err := p.letter(r)
	if err != nil {
		return err
	}
	path := "/deadletters/" + url.PathEscape(letter.Letter)
	return p.render(w, r, http.StatusOK, "confirm", "Delete dead letter "+letter.Letter, confirmation{
		Name: letter.TraceID + " in " + letter.Pipeline, What: "dead letter", Action: path + "/delete", Back: path,
		Effect: letterEffect,
	})
}

func (p *Portal) letterDelete(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := p.run(r, "deadletter.delete", args("letter", r.PathValue("letter"))); err != nil {
		return err
	}
	p.redirect(w, r, "/deadletters?done=deleted")
	return nil
}
