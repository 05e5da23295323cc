package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// callsSelected replays or exports the selected calls.
func (p *Portal) callsSelected(w http.ResponseWriter, r *http.Request) error {
	traces, err := selected(r, "trace")
	if err != nil {
		return err
	}
	if r.PostForm.Get("do") == "export" {
		return p.exportTraces(w, r, traces)
	}
	return p.bulk(w, r, &bulk{
		Verb: "replayed", What: [2]string{"call", "calls"}, List: "Calls", Back: "/calls",
		command: "event.replay", field: "traceId", names: traces, replays: url.Values{},
	})
}

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

func (p *Portal) replayAllPage(w http.ResponseWriter, r *http.Request) error {
	if !p.allows(r, "event.replay") {
		return sluice.NotPermitted("event.replay")
	}
	filter := filterOf(p.base, r.URL.Query())
	filter.Since = "1d" // proposed, if the list has no start
	return p.askReplayAll(w, r, replayAllView{callFilter: filter})
}

// askReplayAll shows how many calls failed, and asks how far back to replay them.
func (p *Portal) askReplayAll(w http.ResponseWriter, r *http.Request, view replayAllView) error {
	view.Spans = []replaySpan{{Since: "1h", Title: "the last hour"}, {Since: "1d", Title: "the last day"}, {Since: "7d", Title: "the last 7 days"}}
	if view.From != "" {
		view.Spans = []replaySpan{{}}
	}
	for i := range view.Spans {
		span := &view.Spans[i]
		given := append(view.failed(), args("from", asTime(view.From), "since", span.Since, "to", asTime(view.To), "limit", "1000", "dryRun", "true")...)
		found, err := ask[sluice.Replays](p, r, "event.replay", given)
		if err != nil {
			return err
		}
		span.Calls, span.More = found.Selected, found.Next != ""
	}
	return p.render(w, r, http.StatusOK, "replay_all", "Replay failed calls", view)
}

// failed returns the arguments that select the failed calls of a list.
func (v replayAllView) failed() command.Args {
	return args("status", string(sluice.StatusError), "eventKey", v.EventKey, "code", v.Code, "pipeline", v.Pipeline)
}

func (p *Portal) replayAll(w http.ResponseWriter, r *http.Request) error {
	view := replayAllView{callFilter: filterOf(p.base, r.PostForm)}
	b := &bulk{
		Verb: "replayed", What: [2]string{"call", "calls"}, About: "that failed", List: "Calls", Back: "/calls", command: "event.replay",
		replays: url.Values{"eventKey": {view.EventKey}, "pipeline": {view.Pipeline}},
	}
	from, err := sluice.Since(time.Time{}, view.Since)
	if err == nil {
		if view.From == "" {
			r.PostForm.Set("from", from.UTC().Format(time.RFC3339Nano)) // the same in each step
		}
		r.PostForm.Del("since")
		b.args = append(view.failed(), args("from", asTime(r.PostForm.Get("from")), "rate", "200")...)
		err = p.step(r, b)
	}
	switch {
	case err != nil && (!isMistake(err) || sluice.AsError(err).Kind == sluice.Forbidden):
		return err
	case err != nil:
		view.Problem = sluice.AsError(err).Message
	case b.First && b.Done == 0 && b.After == "" && len(b.Items) > 0:
		view.Problem = b.Items[0].Problem
	case b.First && b.Done == 0 && b.After == "":
		view.Problem = "No stored event matches; trace.get finds those there are."
	default:
		return p.showBulk(w, r, b)
	}
	return p.askReplayAll(w, r, view)
}

// exportTraces exports the calls of trace ids.
func (p *Portal) exportTraces(w http.ResponseWriter, r *http.Request, traces []string) error {
	var calls []sluice.CallView
	for _, trace := range traces {
		found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("traceId", trace, "limit", "20"))
		if err != nil {
			return err
		}
		calls = append(calls, found.Items...)
	}
	startExport(w)
	writeLines(w, calls)
	return nil
}

// callExport exports the calls of a list, newest first.
func (p *Portal) callExport(w http.ResponseWriter, r *http.Request) error {
	filter := filterOf(p.base, r.URL.Query())
	return p.export(w, func(limit int, after string) (sluice.TraceAnswer, error) {
		return ask[sluice.TraceAnswer](p, r, "trace.get", append(filter.args(), args("limit", strconv.Itoa(limit), "after", after)...))
	})
}

// export writes the calls that find returns page by page. If there are too many, the
// last line says so.
func (p *Portal) export(w http.ResponseWriter, find func(limit int, after string) (sluice.TraceAnswer, error)) error {
	const page = 500
	after := ""
	for left := maxExported; left > 0; {
		found, err := find(min(page, left), after)
		if err != nil && left == maxExported {
			return err
		}
		if err != nil {
			p.Log.Warn("An export of calls is not complete.", "error", err)
			panic(http.ErrAbortHandler) // or the browser takes the file for complete
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
	writeLines(w, []any{map[string]string{"incomplete": fmt.Sprintf("These are the newest %d calls. There are older ones: export those up to the time of the last one.", maxExported)}})
	return nil
}

func startExport(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="calls.jsonl"`)
}

func writeLines[T any](w http.ResponseWriter, lines []T) {
	for _, line := range lines {
		if err := value.Encode(w, line); err != nil {
			return // the browser has gone
		}
	}
}
