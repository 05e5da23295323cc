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

// maxSelected bounds the rows that people can select.
const maxSelected = 1000

// selected returns the rows that were selected in a list.
func selected(r *http.Request, name string) ([]string, error) {
	items := r.PostForm[name]
	if len(items) == 0 || len(items) > maxSelected {
		return nil, sluice.Errorf(sluice.CodeNothingSelected, "Select at least one row, and at most %d.", maxSelected)
	}
	return items, nil
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
	Verb  string    // what is done, in the past tense
	What  [2]string // the things: singular and plural
	About string    // describes the things; "" if people selected them
	List  string    // title of the list
	Back  string    // path of the list

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

// step does the next step; the form tells the progress.
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
		return p.stepSelected(r, b, form.Get("after"))
	}
	given := slices.Concat(b.args, args("limit", strconv.Itoa(bulkStep), "after", form.Get("after"), "to", cmp.Or(asTime(form.Get("to")), b.Began.Format(time.RFC3339Nano))))
	output, err := ask[sluice.BulkAnswer](p, r, b.command, given)
	if err == nil {
		b.add(output)
	}
	return err
}

// stepSelected does a step with selected things. The cursor is how many came before.
// It stops at errors that every other thing would meet too.
func (p *Portal) stepSelected(r *http.Request, b *bulk, after string) error {
	begin, _ := strconv.Atoi(after)
	begin = min(max(begin, 0), len(b.names))
	end := min(begin+bulkStep, len(b.names))
	for _, name := range b.names[begin:end] {
		output, err := ask[sluice.BulkAnswer](p, r, b.command, append(args(b.field, name), b.args...))
		if err == nil {
			b.add(output)
			continue
		}
		e := sluice.AsError(err)
		switch {
		case e.Kind == sluice.NotFound && b.Verb != "replayed": // someone else was faster
		case e.Kind == sluice.Forbidden || e.Kind == sluice.Unavailable || !isMistake(err):
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
		b.Items = append(b.Items, bulkItem{Name: cmp.Or(item.ID, item.Letter, item.TraceID), Link: "/calls/" + url.PathEscape(trace), Text: trace, Problem: item.Message})
		if item.Message != "" {
			b.Left++
			unnamed--
		}
	}
	b.Left += max(0, unnamed)
}

// Title says what was done to how many things.
func (b *bulk) Title() string { return plural(b.Done, b.What[0], b.What[1]) + " " + b.Verb }

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

// bulk does a step and shows the progress or the result.
func (p *Portal) bulk(w http.ResponseWriter, r *http.Request, b *bulk) error {
	if err := p.step(r, b); err != nil {
		return err
	}
	return p.showBulk(w, r, b)
}

// showBulk shows the progress or the result. Replays end at a page of their own, unless
// some of the selected things were left out.
func (p *Portal) showBulk(w http.ResponseWriter, r *http.Request, b *bulk) error {
	switch {
	case b.After == "" && b.Deletes() && b.About == "":
		return p.redirect(w, r, b.Back+"?done=deleted")
	case b.After == "" && b.replays != nil && (b.Left == 0 || b.About != ""):
		return p.redirect(w, r, replayedPath(b))
	}
	return p.render(w, r, http.StatusOK, "bulk", b.Title(), b)
}

// deleteSelected asks for confirmation, and then deletes.
func (p *Portal) deleteSelected(w http.ResponseWriter, r *http.Request, about confirmation, b *bulk) error {
	if !p.allows(r, b.command) {
		return sluice.NotPermitted(b.command)
	}
	if r.PostForm.Get("sure") == "" {
		return p.render(w, r, http.StatusOK, "confirm", "Delete "+about.Name, about)
	}
	return p.bulk(w, r, b)
}

// replayedPath returns the path of the page about the replays of a bulk.
func replayedPath(b *bulk) string {
	since := b.Began.Truncate(time.Millisecond) // trace ids have the time to the millisecond
	query := url.Values{"from": {since.UTC().Format(time.RFC3339Nano)}, "to": {time.Now().UTC().Format(time.RFC3339Nano)}, "count": {strconv.Itoa(b.Done)}}
	if b.Left > 0 {
		query.Set("skipped", strconv.Itoa(b.Left))
	}
	for name := range b.replays {
		if value := b.replays.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	return "/calls/replayed?" + query.Encode() + "#result"
}

// A replayedView shows how replays ended.
type replayedView struct {
	Pipeline, EventKey    string // of the replays; "" means any
	Count, Skipped        int
	Letters               bool // they were dead letters
	Known                 bool // the user may see how they ended
	OK, Failed, Unsettled int
	Items                 []tracedCall // the newest replays
	CallsURL              string
	Live                  string // "" if nothing changes any more, or the user may not see it
}

// replayedPage shows how the replays of a span of time ended.
func (p *Portal) replayedPage(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := &replayedView{Pipeline: query.Get("pipeline"), EventKey: query.Get("eventKey"), Letters: query.Get("letters") != ""}
	view.Count, _ = strconv.Atoi(query.Get("count"))
	view.Skipped, _ = strconv.Atoi(query.Get("skipped"))
	filter := callFilter{EventKey: view.EventKey, Pipeline: view.Pipeline, path: p.base + "/calls"}
	view.CallsURL = filter.Narrowed("", "")
	if p.allows(r, "trace.get") {
		found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("pipeline", view.Pipeline, "eventKey", view.EventKey, "from", query.Get("from"), "to", query.Get("to"), "limit", strconv.Itoa(maxReplayed)))
		if err != nil {
			return err
		}
		view.Known = true
		view.count(found.Items)
		const young = 10 * time.Second // alerts may still change
		if to, err := time.Parse(time.RFC3339Nano, query.Get("to")); view.Unsettled > 0 || err == nil && time.Since(to) < young {
			view.Live = p.liveFrom(view.EventKey, "")
		}
	}
	return p.render(w, r, http.StatusOK, "replayed", "Replayed", view)
}

// maxReplayed bounds the replays that are counted, the newest ones.
const maxReplayed = 1000

// count counts how the replays among calls ended. The others are still to come.
func (v *replayedView) count(found []tracedCall) {
	const shown = 50
	for _, c := range found {
		if c.ReplayOf == "" {
			continue
		}
		switch c.Status {
		case sluice.StatusOK:
			v.OK++
		case sluice.StatusError:
			v.Failed++
		}
		if len(v.Items) < shown {
			v.Items = append(v.Items, c)
		}
	}
	v.Unsettled = max(0, v.Counted()-v.OK-v.Failed)
}

// Counted returns how many replays are counted.
func (v *replayedView) Counted() int { return min(v.Count, maxReplayed) }
