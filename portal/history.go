package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
)

// addHistory adds the latest runs to the page of a pipeline.
func (p *Portal) addHistory(r *http.Request, view *pipelineView) error {
	if !p.allows(r, "trace.get") {
		return nil
	}
	const most = "10"
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("pipeline", view.Name, "limit", most))
	if err != nil {
		return err
	}
	for _, c := range found.Items {
		c.Runs = slices.DeleteFunc(c.Runs, func(run sluice.RunReport) bool { return run.Pipeline != view.Name })
		view.History = append(view.History, c)
	}
	if view.Failure = latestFailure(view.History, view.Updated); view.Failure != nil {
		if view.Failure.Event, err = p.seen(r, view.Failure.TraceID); err != nil {
			return err
		}
	}
	view.Live = p.liveFrom("", "")
	if key := view.ListensTo(); key != view.Listens && !strings.ContainsAny(key, "*#") {
		view.Live = p.liveFrom(key, "")
	}
	if len(found.Items) > 0 || found.Next != "" {
		view.RunsURL = p.base + "/calls?pipeline=" + url.QueryEscape(view.Name)
	}
	return nil
}

// latestFailure returns the latest run if it failed, and ran the current source.
func latestFailure(history []tracedCall, stored time.Time) *runFailure {
	var latest runFailure
	for _, c := range history {
		for _, run := range c.Runs {
			if run.Started.After(latest.Started) {
				latest = runFailure{RunReport: run, TraceID: c.TraceID}
			}
		}
	}
	if latest.Error == nil || latest.Started.Before(stored) {
		return nil
	}
	return &latest
}

// addPast adds the calls that a pipeline can be run with to its page.
func (p *Portal) addPast(r *http.Request, view *pipelineView) error {
	if view.Listens == "" || !sluice.UserFrom(r.Context()).May(sluice.MaySeePayload) {
		return nil
	}
	key := view.ListensTo()
	if strings.ContainsAny(key, "*#") || view.Listens == key {
		key = "" // a pattern, or messages: matched below
	}
	const looked = "50"
	found, err := p.latest(r, key, looked)
	if err != nil {
		return err
	}
	const most = 10
	for _, c := range found {
		if c.Accepted() && len(view.Past) < most && sluice.KeyMatches(view.Listens, sluice.EventPrefix+c.EventKey) {
			view.Past = append(view.Past, c)
		}
	}
	return nil
}
