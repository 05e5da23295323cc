package calls

import (
	"net/url"
	"time"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// A replayAllView asks before it replays all failed calls of a list.
type replayAllView struct {
	callFilter

	Spans   []replaySpan
	Problem string
}

// A replaySpan is how far back failed calls are replayed.
type replaySpan struct {
	Since, Title string
	Calls        int
	More         bool // there may be more calls
}

func replayAllPage(v *page.Visit) error {
	if !v.May("event.replay") {
		return sluice.NotPermitted("event.replay")
	}
	filter := filterOf(v.Base, v.R.URL.Query())
	filter.Set("since", "1d") // proposed, if the list has no start
	return askReplayAll(v, replayAllView{callFilter: filter})
}

// askReplayAll shows how many calls failed, and asks how far back to replay them.
func askReplayAll(v *page.Visit, view replayAllView) error {
	view.Spans = []replaySpan{
		{Since: "1h", Title: "the last hour"}, {Since: "1d", Title: "the last day"},
		{Since: "7d", Title: "the last 7 days"},
	}
	if view.Has("from") {
		view.Spans = []replaySpan{{}}
	}
	for i := range view.Spans {
		span := &view.Spans[i]
		found := page.Ask[sluice.Replays](v, "event.replay", view.failed(), "from", page.AsTime(view.Get("from")),
			"since", span.Since, "to", page.AsTime(view.Get("to")), "limit", "1000", "dryRun", "true")
		span.Calls, span.More = found.Selected, found.Next != ""
	}
	return v.Show("replay_all", "Replay failed calls", view)
}

// failed returns the arguments that select the failed calls of a list.
func (v replayAllView) failed() command.Args {
	return page.Args("status", string(sluice.StatusError),
		page.Picked(v.Values, "eventKey", "type", "code", "pipeline"))
}

func replayAll(v *page.Visit) error {
	view := replayAllView{callFilter: filterOf(v.Base, v.R.PostForm)}
	b := replays()
	b.About = "that failed"
	b.replays = url.Values{"eventKey": {view.Get("eventKey")}, "pipeline": {view.Get("pipeline")}}
	from, err := sluice.Since(time.Time{}, view.Get("since"))
	if err == nil {
		if !view.Has("from") {
			v.R.PostForm.Set("from", from.UTC().Format(time.RFC3339Nano)) // the same in each step
		}
		v.R.PostForm.Del("since")
		b.args = append(view.failed(), page.Args("from", page.AsTime(v.Entered("from")), "rate", "200")...)
		err = b.step(v)
	}
	switch {
	case err != nil && (!page.IsMistake(err) || sluice.Forbidden.Is(err)):
		return err
	case err != nil:
		view.Problem = sluice.AsError(err).Message
	case b.First && b.Done == 0 && b.After == "" && len(b.Items) > 0:
		view.Problem = b.Items[0].Problem
	case b.First && b.Done == 0 && b.After == "":
		view.Problem = "No stored event matches; trace.get finds those there are."
	default:
		return b.show(v)
	}
	return askReplayAll(v, view)
}
