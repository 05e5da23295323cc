package portal

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sluice"
)

// maxExported bounds the calls of one export; the page of calls says so.
const maxExported = 10_000

// callsSelected replays or exports the calls that were ticked.
func (p *Portal) callsSelected(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	traces, err := selected(r, "trace")
	if err != nil {
		return err
	}
	if r.PostForm.Get("do") == "export" {
		return p.exportTraces(w, r, traces)
	}
	view, since := &outcomes{Verb: "replayed", What: [2]string{"call", "calls"}, List: "Calls", Back: "/calls"}, time.Now()
	err = view.each(traces, func(trace string) (outcome, error) {
		again, err := p.replay(r, trace)
		return outcome{Name: trace, Link: "/calls/" + url.PathEscape(again), Text: again}, err
	})
	if err != nil {
		return err
	}
	return p.showReplayed(w, r, view, since)
}

// replay sends the event of a call again, and returns the trace id of the new
// one.
func (p *Portal) replay(r *http.Request, trace string) (string, error) {
	again, err := ask[struct {
		Items []struct {
			TraceID string `json:"newTraceId"`
		} `json:"items"`
	}](p, r, "event.replay", args("traceId", trace))
	if err != nil || len(again.Items) == 0 {
		return "", err
	}
	return again.Items[0].TraceID, nil
}

// A replayAllView asks before all failed calls of a list are replayed.
type replayAllView struct {
	callFilter

	Since   string // how far back, if the list has no beginning
	Spans   []replaySpan
	Problem string
}

// A replaySpan is how far back failed calls are replayed.
type replaySpan struct {
	Since, Title string
	Calls        int  // of that time that are replayed
	More         bool // there may be more of them
}

func (p *Portal) replayAllPage(w http.ResponseWriter, r *http.Request) error {
	if !p.may(sluice.UserFrom(r.Context()), "event.replay") {
		return sluice.NotPermitted("event.replay")
	}
	return p.askReplayAll(w, r, replayAllView{callFilter: filterOf(p.base, r.URL.Query()), Since: "1d"})
}

// askReplayAll shows how many calls failed, and asks which of them are replayed.
func (p *Portal) askReplayAll(w http.ResponseWriter, r *http.Request, view replayAllView) error {
	const day = 24 * time.Hour
	view.Status = string(sluice.StatusError)
	filter := view.callFilter
	view.Spans = []replaySpan{{Since: "1h", Title: "the last hour"}, {Since: "1d", Title: "the last day"}, {Since: "7d", Title: "the last 7 days"}}
	ages := []time.Duration{time.Hour, day, 7 * day}
	if view.From != "" {
		view.Spans, ages = []replaySpan{{}}, []time.Duration{math.MaxInt64}
	} else {
		filter.From = time.Now().Add(-7 * day).UTC().Format(time.RFC3339)
	}
	if p.may(sluice.UserFrom(r.Context()), "trace.get") {
		found, err := ask[calls](p, r, "trace.get", append(filter.args(), args("limit", "1000")...))
		if err != nil {
			return err
		}
		for i := range view.Spans {
			for _, c := range found.Items {
				if c.Accepted() && c.Replays(view.Pipeline, sluice.StatusError, view.Code) && time.Since(c.Time) <= ages[i] {
					view.Spans[i].Calls++
				}
			}
			view.Spans[i].More = found.Next != ""
		}
	}
	return p.render(w, r, http.StatusOK, "replay_all", "Replay failed calls", view)
}

// replayAll replays the failed calls of a list.
func (p *Portal) replayAll(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	view := replayAllView{callFilter: filterOf(p.base, r.PostForm), Since: r.PostForm.Get("since")}
	given := args("status", "error", "eventKey", view.EventKey, "code", view.Code, "pipeline", view.Pipeline, "to", asTime(view.To), "rate", "200")
	if view.From != "" {
		given = append(given, args("from", asTime(view.From))...)
	} else {
		given = append(given, args("since", view.Since)...)
	}
	began := time.Now()
	again, err := ask[struct {
		Replayed int `json:"replayed"`
	}](p, r, "event.replay", given)
	if err != nil && (!isMistake(err) || sluice.AsError(err).Kind == sluice.Forbidden) {
		return err
	}
	if err != nil {
		view.Problem = sluice.AsError(err).Message
		return p.askReplayAll(w, r, view)
	}
	p.redirect(w, r, replayedPath(began, again.Replayed, "eventKey", view.EventKey, "pipeline", view.Pipeline))
	return nil
}

// exportTraces writes calls with all that the user may see of them.
func (p *Portal) exportTraces(w http.ResponseWriter, r *http.Request, traces []string) error {
	var lines []json.RawMessage
	for _, trace := range traces {
		found, err := ask[exported](p, r, "trace.get", args("traceId", trace, "limit", "20"))
		if err != nil {
			return err
		}
		lines = append(lines, found.Items...)
	}
	startExport(w)
	writeLines(w, lines)
	return nil
}

type exported struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next"`
}

// callExport writes all calls of a list, newest first, as it finds them.
func (p *Portal) callExport(w http.ResponseWriter, r *http.Request) error {
	filter := filterOf(p.base, r.URL.Query())
	return p.export(w, func(limit int, after string) (exported, error) {
		return ask[exported](p, r, "trace.get", append(filter.args(), args("limit", strconv.Itoa(limit), "after", after)...))
	})
}

// export writes the calls that find returns page by page. How many there are is not
// known when the file gets its name, so the last line says if there are more.
func (p *Portal) export(w http.ResponseWriter, find func(limit int, after string) (exported, error)) error {
	const page = 500
	after := ""
	for left := maxExported; left > 0; {
		found, err := find(min(page, left), after)
		if err != nil && left == maxExported {
			return err
		}
		if err != nil {
			p.Log.Warn("An export of calls is not complete.", "error", err)
			panic(http.ErrAbortHandler) // the browser must not take it for whole
		}
		if after == "" {
			startExport(w)
		}
		writeLines(w, found.Items)
		left -= len(found.Items)
		if after = found.Next; after == "" {
			return nil
		}
	}
	writeLines(w, []json.RawMessage{fmt.Appendf(nil, `{"incomplete":"These are the newest %d calls. There are older ones: export those up to the time of the last one."}`, maxExported)})
	return nil
}

func startExport(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="calls.jsonl"`)
}

func writeLines(w http.ResponseWriter, lines []json.RawMessage) {
	for _, line := range lines {
		_, _ = w.Write(append(line, '\n')) // an error means that the browser has gone
	}
}
