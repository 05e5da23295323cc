package calls

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// A callFilter says which calls a list shows.
type callFilter struct {
	Search, EventKey, Pipeline, Status, Code, Trace, Since, From, To string

	InPayloads bool // payloads are searched too

	path string
}

// filterOf returns the filter that a query asks for.
func filterOf(base string, query url.Values) callFilter {
	f := callFilter{InPayloads: query.Get("payloads") != "", path: base + "/calls"}
	for name, value := range conditionsOf(&f) {
		*value = strings.TrimSpace(query.Get(name))
	}
	f.Status = string(sluice.StatusOf(f.Status))
	if f.From != "" || f.To != "" {
		f.Since = ""
	}
	return f
}

// conditionsOf returns the conditions by their names in the query.
func conditionsOf(f *callFilter) map[string]*string {
	return map[string]*string{
		"search": &f.Search, "eventKey": &f.EventKey, "pipeline": &f.Pipeline, "status": &f.Status, "code": &f.Code,
		"trace": &f.Trace, "since": &f.Since, "from": &f.From, "to": &f.To,
	}
}

// args returns the filter as trace.get takes it.
func (f callFilter) args() command.Args {
	given := page.Args("search", f.Search, "eventKey", f.EventKey, "pipeline", f.Pipeline, "status", f.Status,
		"code", f.Code, "traceId", f.Trace, "from", f.start(), "to", page.AsTime(f.To))
	if f.InPayloads && f.Search != "" {
		given = append(given, page.Args("payloads", true)...)
	}
	return given
}

// start returns the earliest time of the calls. A text that is no time is left to the command
// to refuse.
func (f callFilter) start() string {
	if at, err := sluice.Since(time.Time{}, f.Since); err == nil && !at.IsZero() {
		return at.Format(time.RFC3339)
	}
	return cmp.Or(f.Since, page.AsTime(f.From))
}

// values returns the filter as the query of a page.
func (f callFilter) values() url.Values {
	query := url.Values{}
	for name, value := range conditionsOf(&f) {
		if *value != "" {
			query.Set(name, *value)
		}
	}
	if f.InPayloads {
		query.Set("payloads", "yes")
	}
	return query
}

// Narrowed returns the path of the list with one condition set, or removed if value is
// empty.
func (f callFilter) Narrowed(name, value string) string {
	query := f.values()
	if name == "since" {
		query.Del("from") // one start is enough
		query.Del("to")
	}
	query.Set(name, value)
	if value == "" {
		query.Del(name)
	}
	if len(query) == 0 {
		return f.path
	}
	return f.path + "?" + query.Encode()
}

// Export returns the path that exports the matching calls as JSON lines.
func (f callFilter) Export() string { return f.path + "/export?" + f.values().Encode() }

// MaxExported returns the bound of an export.
func (f callFilter) MaxExported() int { return maxExported }

// ReplayAll returns the path of the page that replays the matching calls.
func (f callFilter) ReplayAll() string { return f.path + "/replay?" + f.values().Encode() }

// Failed reports whether the list shows failed calls that can be replayed together:
// event.replay can't search for text or a trace id.
func (f callFilter) Failed() bool { return f.Status == "error" && f.Search == "" && f.Trace == "" }

// A timePreset is a time before now that a list can show.
type timePreset struct{ Since, Title string }

// Presets returns the times to choose from.
func (f callFilter) Presets() []timePreset {
	return []timePreset{{"15m", "15 min"}, {"1h", "1 h"}, {"6h", "6 h"}, {"1d", "24 h"}, {"7d", "7 days"}}
}

// Statuses returns the statuses to choose from.
func (f callFilter) Statuses() []sluice.Status {
	return []sluice.Status{
		sluice.StatusProcessing, sluice.StatusRetrying, sluice.StatusOK, sluice.StatusError, sluice.StatusRecovered,
		sluice.StatusRejected, sluice.StatusHandshake,
	}
}

// Empty reports whether the list shows all calls.
func (f callFilter) Empty() bool { return len(f.values()) == 0 }

// onlyKeyAndTrace reports whether the live stream can filter like the list does: by
// event key and trace id alone.
func (f callFilter) onlyKeyAndTrace() bool {
	f.EventKey, f.Trace = "", ""
	return f.Empty()
}

// growing reports whether new calls may match, and asking again is cheap.
func (f callFilter) growing() bool { return f.To == "" && !f.InPayloads }

// A chosen is a condition that the form does not show.
type chosen struct{ Name, Title, Value string }

// Chosen returns the conditions that facets and links have set.
func (f callFilter) Chosen() (all []chosen) {
	for _, c := range []chosen{
		{"eventKey", "webhook", f.EventKey}, {"pipeline", "pipeline", f.Pipeline}, {"code", "code", f.Code},
		{"trace", "trace id", f.Trace},
	} {
		if c.Value != "" {
			all = append(all, c)
		}
	}
	return all
}
