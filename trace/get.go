// Package trace has the command trace.get, which searches calls. Package
// journal keeps calls and searches them; the live tail is an endpoint of
// package api.
package trace

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

type getParams struct {
	TraceID  string    `json:"traceId" names:"listed" doc:"Trace id of one call, or its part before the colon: the last 6 characters of the token, for all calls of a webhook."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Status   string    `json:"status" enum:"processing,retrying,ok,error,recovered,rejected,handshake" doc:"Only calls with this status. Retrying ones failed and will be tried again, recovered ones failed and were replayed well; rejected ones were refused, a handshake was answered as its sender demands."`
	EventKey string    `json:"eventKey" names:"listed" doc:"Only calls of the webhook with this key."`
	Pipeline string    `json:"pipeline" names:"listed" doc:"Only calls that were handed to this pipeline, and runs of it that users started."`
	Code     string    `json:"code" doc:"Only calls that were rejected with this code, or whose run failed with it."`
	Search   string    `json:"search" doc:"Only calls that have this text in their event key, trace id, correlation id, address, pipeline or error, in upper or lower case."`
	Payloads bool      `json:"payloads" doc:"The text may also be in the payload; needs the permission trace.payload."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
	Facets   bool      `json:"facets" doc:"Also counts the newest calls that fit, up to 500, by webhook, pipeline, status and code; not while a search for a text is not done."`
}

const defaultLimit = 100

// Commands returns the command that finds calls. seen is called when a user sees
// payloads.
func Commands(journal sluice.Journal, results sluice.Results, seen func(ctx context.Context, command, target string)) []command.Command {
	return []command.Command{command.New("trace.get", "Find calls, newest first: accepted ones with what pipelines made of them, and rejected ones. Users who may see payloads also get the correlation ids, and with a whole trace id the payload and the result.",
		func(ctx context.Context, p getParams) (sluice.TraceAnswer, error) {
			q, err := p.query(ctx, journal)
			if err != nil {
				return sluice.TraceAnswer{}, err
			}
			calls, next, err := journal.Calls(ctx, q)
			if err != nil {
				return sluice.TraceAnswer{}, err
			}
			out := sluice.TraceAnswer{List: sluice.List[sluice.CallView]{Items: make([]sluice.CallView, len(calls)), Next: next}}
			if out.Searched, err = reached(ctx, journal, q, next); err != nil {
				return sluice.TraceAnswer{}, err
			}
			if unfinished := next != "" && len(calls) < q.Limit; p.Facets && !unfinished { // that took long enough
				if out.Facets, err = countFacets(ctx, journal, q); err != nil {
					return sluice.TraceAnswer{}, err
				}
			}
			whole := strings.Contains(q.TraceID, ":")
			if whole && slices.ContainsFunc(calls, func(c sluice.Call) bool { return q.Known.Call(&c) }) {
				seen(ctx, "trace.get", q.TraceID)
			}
			for i, call := range calls {
				if out.Items[i], err = viewOf(ctx, call, q.Known.Call(&call), whole && i < maxShown, journal, results); err != nil {
					return sluice.TraceAnswer{}, err
				}
			}
			return out, nil
		}, command.ReadOnly)}
}

// reached returns how far back a search for a text has looked, nil if it is done.
func reached(ctx context.Context, journal sluice.Journal, q sluice.TraceQuery, next string) (*time.Time, error) {
	if q.Text == "" || next == "" {
		return nil, nil
	}
	at, err := journal.Reached(ctx, next)
	return &at, err
}

// viewOf returns a call as the user may see it: in full, or without its payload and
// result.
func viewOf(ctx context.Context, call sluice.Call, mayKnow, whole bool, journal sluice.Journal, results sluice.Results) (sluice.CallView, error) {
	v := sluice.CallView{Call: call}
	if !mayKnow {
		v.CorrelationID, v.DeliveryID = "", "" // with the first the result can be read
		for i := range v.Runs {
			v.Runs[i].Error.HideMessage()
		}
	}
	if !mayKnow || !whole {
		for i := range v.Runs {
			v.Runs[i].HidePayloads()
		}
		return v, nil
	}
	return v, fill(ctx, &v, journal, results)
}

var validTraceID = regexp.MustCompile(`^[a-z0-9_-]{1,6}(:[a-z0-9]{1,64})?$`)

func (p getParams) query(ctx context.Context, journal sluice.Journal) (sluice.TraceQuery, error) {
	user := sluice.UserFrom(ctx)
	mayKnow := user.May(sluice.MaySeePayload)
	q := sluice.TraceQuery{
		TraceID:  strings.ToLower(p.TraceID),
		EventKey: p.EventKey,
		Pipeline: p.Pipeline,
		Status:   sluice.Status(p.Status),
		Code:     p.Code,
		From:     p.From,
		To:       p.To,
		Limit:    cmp.Or(p.Limit, defaultLimit),
		Before:   p.After,
		Text:     strings.TrimSpace(p.Search),

		InPayload: p.Payloads,
		Cover:     sluice.CoverFrom(ctx),
		Known:     user.Cover(sluice.MaySeePayload),
	}
	switch {
	case q.TraceID != "" && !validTraceID.MatchString(q.TraceID):
		return q, sluice.InvalidParameter("traceId", "The parameter traceId must be a trace id, or the up to 6 characters before its colon.")
	case p.Payloads && !mayKnow:
		return q, sluice.NotPermitted(sluice.MaySeePayload)
	case len(q.Text) > maxText:
		return q, sluice.InvalidParameter("search", "The parameter search must be at most %d characters.", maxText)
	}
	return p.shortCut(ctx, journal, q)
}

// maxText bounds the text of a search.
const maxText = 200

// shortCut looks up a text that is a whole trace id or correlation id directly, which is
// quick however old the call is.
func (p getParams) shortCut(ctx context.Context, journal sluice.Journal, q sluice.TraceQuery) (sluice.TraceQuery, error) {
	if q.TraceID != "" || q.InPayload {
		return q, nil
	}
	id := strings.ToLower(q.Text)
	if correlationID.MatchString(id) {
		event, err := journal.Event(ctx, id)
		if err := unlessGone(err); err != nil {
			return q, err
		}
		if q.Known.Call(&sluice.Call{EventKey: event.EventKey, Key: event.Key}) {
			id = event.TraceID
		}
	}
	if strings.Contains(id, ":") && validTraceID.MatchString(id) {
		q.TraceID, q.Text = id, ""
	}
	return q, nil
}

var correlationID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

const (
	// maxCounted bounds the calls that are counted, and maxFacets the values of
	// each kind that are listed.
	maxCounted, maxFacets = 500, 12
)

// countFacets counts the newest calls of a search.
func countFacets(ctx context.Context, journal sluice.Journal, q sluice.TraceQuery) (*sluice.Facets, error) {
	q.Limit, q.Before = maxCounted, ""
	calls, next, err := journal.Calls(ctx, q)
	if err != nil {
		return nil, err
	}
	webhooks, pipelines, statuses, codes := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range calls {
		if c.ReplayOf != "" {
			continue // it is no call
		}
		of := max(1, c.Count)
		webhooks[c.EventKey] += of
		statuses[string(c.Status)] += of
		codes[c.Code] += of
		ran, failed := map[string]bool{}, map[string]bool{} // a call counts once, however many attempts there were
		for _, run := range c.Runs {
			ran[run.Pipeline] = true
			if run.Error != nil {
				failed[run.Error.Code] = true
			}
		}
		for name := range ran {
			pipelines[name]++
		}
		for code := range failed {
			codes[code]++
		}
	}
	f := &sluice.Facets{Calls: len(calls), More: next != "", Webhooks: largest(webhooks), Pipelines: largest(pipelines), Statuses: largest(statuses), Codes: largest(codes)}
	if len(calls) > 0 {
		f.Since = &calls[len(calls)-1].Time
	}
	return f, nil
}

// largest returns the values with the highest counts, without the empty one.
func largest(counts map[string]int) []sluice.Facet {
	delete(counts, "")
	found := make([]sluice.Facet, 0, len(counts))
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		found = append(found, sluice.Facet{Value: value, Count: counts[value]})
	}
	slices.SortStableFunc(found, func(a, b sluice.Facet) int { return cmp.Compare(b.Count, a.Count) })
	return found[:min(len(found), maxFacets)]
}

const (
	// maxShown bounds the calls of one trace id that are shown in full.
	maxShown = 10
	// maxBinary bounds the base64 payloads that are shown in full.
	maxBinary = 64 << 10
)

// fill adds the event and the result to a call, as far as they are kept.
func fill(ctx context.Context, v *sluice.CallView, journal sluice.Journal, results sluice.Results) error {
	if v.CorrelationID == "" {
		return nil
	}
	event, err := journal.Event(ctx, v.CorrelationID)
	if err != nil {
		return unlessGone(err)
	}
	v.PayloadEncoding, v.ContentType, v.Method, v.Query, v.Admitted = event.PayloadEncoding, event.ContentType, event.Method, event.Query, event.Admitted
	v.Headers = make(map[string]string, len(event.Headers))
	for _, h := range event.Headers {
		v.Headers[h.Name] = h.Value
	}
	if v.Payload, err = shownPayload(&event); err != nil {
		return err
	}
	result, err := results.Result(ctx, v.CorrelationID, 0)
	if err != nil {
		return unlessGone(err)
	}
	sluice.CoverFrom(ctx).Result(&result)
	v.Result = &result
	return nil
}

func unlessGone(err error) error {
	if sluice.AsError(err).Kind == sluice.Gone {
		return nil
	}
	return err
}

// shownPayload returns JSON and text as they are. Of bytes it returns size and
// type, and the bytes only if they are few.
func shownPayload(e *sluice.Event) (json.RawMessage, error) {
	few := len(e.Payload) <= maxBinary
	switch e.PayloadEncoding {
	case sluice.EncodingBase64:
		var payload struct {
			Origin string `json:"origin"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil, err
		}
		return value.Marshal(asBinary("", e.ContentType, payload.Origin, few))
	case sluice.EncodingFiles:
		var payload struct {
			Files []struct {
				Filename    string          `json:"filename"`
				ContentType string          `json:"contentType"`
				Origin      string          `json:"origin"`
				Encoding    sluice.Encoding `json:"encoding"`
			} `json:"files"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil, err
		}
		files := make([]sluice.Binary, len(payload.Files))
		for i, f := range payload.Files {
			files[i] = asBinary(f.Filename, f.ContentType, f.Origin, few)
			if f.Encoding == sluice.EncodingText {
				files[i].Size = len(f.Origin)
			}
		}
		return value.Marshal(map[string]any{"files": files})
	}
	return e.Payload, nil
}

func asBinary(filename, media, origin string, few bool) sluice.Binary {
	b := sluice.Binary{Filename: filename, Type: media, Size: (len(origin)*3 - 3*strings.Count(origin, "=")) / 4}
	if few {
		b.Origin = origin
	}
	return b
}
