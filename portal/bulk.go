package portal

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sluice"
	"sluice/command"
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

// bulkStep is how many things are done something with in one request.
const bulkStep = 100

// A bulk is something that is done with many things: with some of them in each
// request, so that people see how far it has come.
type bulk struct {
	Verb  string    // what is done
	What  [2]string // with one, and with several
	About string    // which they are, if they were not ticked
	List  string    // that they are in
	Back  string    // path of the list

	Fields  url.Values // of the form that goes on
	Began   time.Time
	Done    int
	Left    int       // things that nothing was done with
	Items   []outcome // of this step
	After   string    // where to go on; "" at the end
	First   bool      // this is the first step
	command string
	args    command.Args
	field   string     // parameter that names a thing that was ticked
	names   []string   // of those that were ticked
	replays url.Values // what the page about replays gets in the end; nil if this replays nothing
}

// step does the next step, as the form says how far it has come.
func (p *Portal) step(r *http.Request, b *bulk) (err error) {
	form := r.PostForm
	b.Done, _ = strconv.Atoi(form.Get("done"))
	b.Left, _ = strconv.Atoi(form.Get("left"))
	if b.Began, err = time.Parse(time.RFC3339Nano, form.Get("began")); err != nil {
		b.Began, b.First = time.Now().UTC(), true
	}
	b.Fields = maps.Clone(form)
	for _, name := range []string{"done", "left", "began", "after"} {
		b.Fields.Del(name)
	}
	if b.names != nil {
		return p.stepTicked(r, b, form.Get("after"))
	}
	given := slices.Concat(b.args, args("limit", strconv.Itoa(bulkStep), "after", form.Get("after"), "to", cmp.Or(asTime(form.Get("to")), b.Began.Format(time.RFC3339Nano))))
	answer, err := ask[sluice.BulkAnswer](p, r, b.command, given)
	if err != nil {
		return err
	}
	b.add(answer)
	return nil
}

// stepTicked does a step with things that were ticked. The cursor is how many were
// done before. Errors that would come again with each of them end it.
func (p *Portal) stepTicked(r *http.Request, b *bulk, after string) error {
	begin, _ := strconv.Atoi(after)
	begin = min(max(begin, 0), len(b.names))
	end := min(begin+bulkStep, len(b.names))
	for _, name := range b.names[begin:end] {
		answer, err := ask[sluice.BulkAnswer](p, r, b.command, append(args(b.field, name), b.args...))
		if err == nil {
			b.add(answer)
			continue
		}
		e := sluice.AsError(err)
		switch {
		case e.Kind == sluice.NotFound && b.Verb != "replayed": // someone else was faster
		case e.Kind == sluice.Forbidden || e.Kind == sluice.Unavailable || !isMistake(err):
			return err
		default:
			b.Left++
			b.Items = append(b.Items, outcome{Name: name, Problem: e.Message})
		}
	}
	if b.After = ""; end < len(b.names) {
		b.After = strconv.Itoa(end)
	}
	return nil
}

func (b *bulk) add(answer sluice.BulkAnswer) {
	done, of := answer.Did()
	b.Done += done
	b.After = of.Next
	unnamed := of.Skipped
	for _, item := range of.Items {
		trace := cmp.Or(item.NewTraceID, item.TraceID)
		b.Items = append(b.Items, outcome{Name: cmp.Or(item.ID, item.Letter, item.TraceID), Link: "/calls/" + url.PathEscape(trace), Text: trace, Problem: item.Message})
		if item.Message != "" {
			b.Left++
			unnamed--
		}
	}
	b.Left += max(0, unnamed)
}

// Title returns what was done, and with how many things.
func (b *bulk) Title() string { return plural(b.Done, b.What[0], b.What[1]) + " " + b.Verb }

// Listed reports whether the page lists all things that nothing was done with: those
// of earlier steps are not on it.
func (b *bulk) Listed() bool {
	listed := 0
	for _, item := range b.Items {
		if item.Problem != "" {
			listed++
		}
	}
	return listed == b.Left
}

// Deletes reports whether nothing is left of the things.
func (b *bulk) Deletes() bool { return b.Verb == "deleted" }

// bulk does a step and shows how far it has come, or what became of all.
func (p *Portal) bulk(w http.ResponseWriter, r *http.Request, b *bulk) error {
	if err := p.step(r, b); err != nil {
		return err
	}
	return p.showBulk(w, r, b)
}

// showBulk shows how far something has come. What was replayed has a page of its own
// in the end, unless it has to be told why some of what was ticked was not.
func (p *Portal) showBulk(w http.ResponseWriter, r *http.Request, b *bulk) error {
	switch {
	case b.After == "" && b.Deletes() && b.About == "":
		p.redirect(w, r, b.Back+"?done=deleted")
		return nil
	case b.After == "" && b.replays != nil && (b.Left == 0 || b.About != ""):
		p.redirect(w, r, replayedPath(b))
		return nil
	}
	return p.render(w, r, http.StatusOK, "bulk", b.Title(), b)
}

// deleteSelected deletes the things that a confirmation is about with a command,
// once that was confirmed.
func (p *Portal) deleteSelected(w http.ResponseWriter, r *http.Request, about confirmation, b *bulk) error {
	if !p.may(sluice.UserFrom(r.Context()), b.command) {
		return sluice.NotPermitted(b.command)
	}
	if r.PostForm.Get("sure") == "" {
		return p.render(w, r, http.StatusOK, "confirm", "Delete "+about.Name, about)
	}
	return p.bulk(w, r, b)
}
