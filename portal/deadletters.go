package portal

import (
	"net/http"
	"net/url"

	"sluice"
)

// deadLetters is the answer of deadletter.get.
type deadLetters struct {
	Items []sluice.DeadLetter `json:"items"`
	Next  string              `json:"next"`
}

type letterListView struct {
	Pipeline string
	Items    []sluice.DeadLetter
	Next     string
}

func (p *Portal) letterList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	found, err := ask[deadLetters](p, r, "deadletter.get", args("pipeline", query.Get("pipeline"), "limit", pageSize, "after", query.Get("after")))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "letters", "Dead letters", letterListView{query.Get("pipeline"), found.Items, p.nextPage(r, found.Next)})
}

// letter returns the dead letter that the path names.
func (p *Portal) letter(r *http.Request) (sluice.DeadLetter, error) {
	found, err := ask[deadLetters](p, r, "deadletter.get", args("letter", r.PathValue("letter")))
	if err == nil && len(found.Items) == 0 {
		err = sluice.Errorf(sluice.NotFound, "letter-unknown", "There is no such dead letter: it was replayed or deleted, or is too old.")
	}
	if err != nil {
		return sluice.DeadLetter{}, err
	}
	return found.Items[0], nil
}

func (p *Portal) letterPage(w http.ResponseWriter, r *http.Request) error {
	letter, err := p.letter(r)
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "letter", "Dead letter "+letter.Letter, letter)
}

func (p *Portal) letterReplay(w http.ResponseWriter, r *http.Request) error {
	again, err := ask[struct {
		Items []struct {
			TraceID string `json:"traceId"`
		} `json:"items"`
	}](p, r, "deadletter.replay", args("letter", r.PathValue("letter")))
	if err != nil {
		return err
	}
	if len(again.Items) == 1 && p.may(sluice.UserFrom(r.Context()), "trace.get") {
		p.redirect(w, r, "/calls/"+url.PathEscape(again.Items[0].TraceID)+"?done=replayed")
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
		Effect: "The event can’t be sent to the pipeline again from here.",
	})
}

func (p *Portal) letterDelete(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := p.run(r, "deadletter.delete", args("letter", r.PathValue("letter"))); err != nil {
		return err
	}
	p.redirect(w, r, "/deadletters?done=deleted")
	return nil
}
