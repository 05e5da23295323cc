package calls

import (
	"cmp"
	"maps"
	"net/url"
	"strconv"
	"time"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// maxSelected bounds the rows that people can select.
const maxSelected = 1000

// selected returns the rows that were selected in a list.
func selected(v *page.Visit, name string) ([]string, error) {
	items := v.R.PostForm[name]
	if len(items) == 0 || len(items) > maxSelected {
		return nil, sluice.CodeNothingSelected.Errorf("Select at least one row, and at most %d.", maxSelected)
	}
	return items, nil
}

// selection returns a bulk of the things that were selected in a list, and what people are asked before it deletes
// them.
func selection(v *page.Visit, field, what string) (*bulk, page.Confirmation, error) {
	names, err := selected(v, field)
	return &bulk{field: field, names: names}, page.Confirmation{
		Name: page.Plural(len(names), what, what+"s"), What: what, Several: len(names) != 1,
		Field: field, Values: names,
	}, err
}

// A bulkItem is what happened to one thing.
type bulkItem struct {
	Name    string
	Link    string // path of the new call
	Text    string
	Problem string // why it was left out; "" if it was not
}

// bulkStep is how many things one request handles.
const bulkStep = 100

// A bulk does the same to many things, some in each request, so that people see the
// progress.
type bulk struct {
	Verb  string // what is done, in the past tense
	What  string // one of the things
	About string // describes the things; "" if people selected them
	List  string // title of the list
	Back  string // path of the list

	Fields  url.Values // of the form that continues
	Began   time.Time
	Done    int
	Left    int        // things that were left out
	Items   []bulkItem // of this step
	After   string     // cursor of the next step; "" at the end
	First   bool       // this is the first step
	command string
	args    command.Args
	field   string     // parameter that names a selected thing
	names   []string   // of the selected things
	replays url.Values // query of the page about the replays; nil if this replays nothing
}

// do does a step and shows the progress or the result.
func (b *bulk) do(v *page.Visit) error {
	if err := b.step(v); err != nil {
		return err
	}
	return b.show(v)
}

// step does the next step. The form has the progress.
func (b *bulk) step(v *page.Visit) (err error) {
	b.Done, _ = strconv.Atoi(v.Entered("done"))
	b.Left, _ = strconv.Atoi(v.Entered("left"))
	if b.Began, err = time.Parse(time.RFC3339Nano, v.Entered("began")); err != nil {
		b.Began, b.First = time.Now().UTC(), true
	}
	b.Fields = maps.Clone(v.R.PostForm)
	for _, name := range []string{"done", "left", "began", "after"} {
		b.Fields.Del(name)
	}
	if b.names != nil {
		return b.stepSelected(v)
	}
	output, err := page.Try[sluice.BulkAnswer](v, b.command, b.args, "limit", strconv.Itoa(bulkStep),
		"after", v.Entered("after"), "to", cmp.Or(page.AsTime(v.Entered("to")), b.Began.Format(time.RFC3339Nano)))
	if err == nil {
		b.add(output)
	}
	return err
}

// stepSelected does a step with selected things. The cursor is how many came before.
// It stops at errors that every other thing would meet too.
func (b *bulk) stepSelected(v *page.Visit) error {
	begin, _ := strconv.Atoi(v.Entered("after"))
	begin = min(max(begin, 0), len(b.names))
	end := min(begin+bulkStep, len(b.names))
	for _, name := range b.names[begin:end] {
		output, err := page.Try[sluice.BulkAnswer](v, b.command, b.field, name, b.args)
		if err == nil {
			b.add(output)
			continue
		}
		e := sluice.AsError(err)
		switch {
		case e.Kind == sluice.NotFound && b.Verb != "replayed": // someone else was faster
		case e.Kind == sluice.Forbidden || e.Kind == sluice.Unavailable || !page.IsMistake(err):
			return err
		default:
			b.Left++
			b.Items = append(b.Items, bulkItem{Name: name, Problem: e.Message})
		}
	}
	if b.After = ""; end < len(b.names) {
		b.After = strconv.Itoa(end)
	}
	return nil
}

func (b *bulk) add(output sluice.BulkAnswer) {
	done, of := output.Did()
	b.Done += done
	b.After = of.Next
	unnamed := of.Skipped
	for _, item := range of.Items {
		trace := cmp.Or(item.NewTraceID, item.TraceID)
		b.Items = append(b.Items, bulkItem{
			Name: cmp.Or(item.ID, item.Letter, item.TraceID), Link: callPath(trace), Text: trace, Problem: item.Message,
		})
		if item.Message != "" {
			b.Left++
			unnamed--
		}
	}
	b.Left += max(0, unnamed)
}

// Title says what was done to how many things.
func (b *bulk) Title() string { return page.Plural(b.Done, b.What, b.What+"s") + " " + b.Verb }

// Listed reports whether the page lists all things that were left out. It has none of
// earlier steps.
func (b *bulk) Listed() bool {
	listed := 0
	for _, item := range b.Items {
		if item.Problem != "" {
			listed++
		}
	}
	return listed == b.Left
}

// Deletes reports whether the things are deleted.
func (b *bulk) Deletes() bool { return b.Verb == "deleted" }

// show shows the progress or the result. Replays end at a page of their own, unless
// some of the selected things were left out.
func (b *bulk) show(v *page.Visit) error {
	switch {
	case b.After == "" && b.Deletes() && b.About == "":
		return v.Redirect(b.Back + "?done=deleted")
	case b.After == "" && b.replays != nil && (b.Left == 0 || b.About != ""):
		return v.Redirect(replayedPath(b))
	}
	return v.Show("bulk", b.Title(), b)
}

// delete deletes the things with another command, after a confirmation.
func (b *bulk) delete(v *page.Visit, command string, about page.Confirmation) error {
	if !v.May(command) {
		return sluice.NotPermitted(command)
	}
	if v.Entered("sure") == "" {
		about.Back = b.Back
		return v.Show("confirm", "Delete "+about.Name, about)
	}
	b.Verb, b.command, b.replays = "deleted", command, nil
	return b.do(v)
}
