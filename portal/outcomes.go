package portal

import (
	"net/http"
	"time"

	"sluice"
)

// maxSelected bounds the things that are done something with at once.
const maxSelected = 1000

// selected returns the things that were ticked in a list.
func selected(r *http.Request, name string) ([]string, error) {
	items := r.PostForm[name]
	if len(items) == 0 || len(items) > maxSelected {
		return nil, sluice.Errorf(sluice.CodeNothingSelected, "Select at least one row, and at most %d.", maxSelected)
	}
	return items, nil
}

// An outcome is what became of one of several things.
type outcome struct {
	Name    string
	Link    string // path of what came of it; "" if nothing is left
	Text    string
	Problem string // why nothing was done
}

// outcomes are the page that says what became of several things.
type outcomes struct {
	Verb  string    // what was done
	What  [2]string // with one, and with several
	List  string    // that they were in
	Back  string    // path of the list
	Done  int
	Items []outcome

	Do   string   // the button of the form, if it takes several steps
	Rest []string // what is still to come
	left int
}

// Listed reports whether the page lists all things that nothing was done with: those
// of earlier steps are not on it.
func (o *outcomes) Listed() bool {
	listed := 0
	for _, item := range o.Items {
		if item.Problem != "" {
			listed++
		}
	}
	return listed == o.left
}

// each does something with one thing after the other, and notes what came of
// it. Errors that would come again with each of them end it.
func (o *outcomes) each(names []string, do func(name string) (outcome, error)) error {
	for _, name := range names {
		item, err := do(name)
		if err != nil {
			e := sluice.AsError(err)
			if e.Kind == sluice.Forbidden || e.Kind == sluice.Unavailable || !isMistake(err) {
				return err
			}
			item = outcome{Name: name, Problem: e.Message}
		}
		o.add(item)
	}
	return nil
}

func (o *outcomes) add(item outcome) {
	if item.Problem == "" {
		o.Done++
	} else {
		o.left++
	}
	o.Items = append(o.Items, item)
}

// Title returns what was done, and with how many things.
func (o *outcomes) Title() string { return plural(o.Done, o.What[0], o.What[1]) + " " + o.Verb }

// Left returns the number of things that nothing was done with.
func (o *outcomes) Left() int { return o.left }

// showReplayed says what became of things that were sent again; if some were not,
// why.
func (p *Portal) showReplayed(w http.ResponseWriter, r *http.Request, view *outcomes, since time.Time, more ...string) error {
	if view.Left() > 0 {
		return p.render(w, r, http.StatusOK, "outcomes", view.Title(), view)
	}
	p.redirect(w, r, replayedPath(since, view.Done, more...))
	return nil
}

// deleteSelected deletes the things that a confirmation is about with a command,
// once that was confirmed, and leads back to their list.
func (p *Portal) deleteSelected(w http.ResponseWriter, r *http.Request, command string, about confirmation) error {
	if !p.may(sluice.UserFrom(r.Context()), command) {
		return sluice.NotPermitted(command)
	}
	if r.PostForm.Get("sure") == "" {
		return p.render(w, r, http.StatusOK, "confirm", "Delete "+about.Name, about)
	}
	for _, name := range about.Values {
		if _, _, err := p.run(r, command, args(about.Field, name)); err != nil && sluice.AsError(err).Kind != sluice.NotFound {
			return err
		}
	}
	p.redirect(w, r, about.Back+"?done=deleted")
	return nil
}
