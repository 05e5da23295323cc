package trace

import (
	"context"
	"slices"
	"strings"
	"time"

	"sluice"
)

type getParams struct {
	TraceID  string    `json:"traceId" names:"listed" doc:"Trace id of one call, or its part before the colon: the last 6 characters of the token, for all calls of a webhook."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Status   string    `json:"status" enum:"processing,retrying,ok,error,recovered,rejected,handshake" doc:"Only calls with this status. Retrying ones failed and will be tried again, recovered ones failed and were replayed well; rejected ones were refused, a handshake was answered as its sender demands."`
	EventKey string    `json:"eventKey" names:"listed" doc:"Only calls of the webhook with this key."`
	Type     string    `json:"type" doc:"Only calls whose event is of this kind, such as push; * at its end stands for the rest."`
	Pipeline string    `json:"pipeline" names:"listed" doc:"Only calls that were handed to this pipeline, and runs of it that users started."`
	Code     string    `json:"code" doc:"Only calls that were rejected with this code, or whose run failed with it."`
	Calls    bool      `json:"calls" doc:"Only calls: no events that runs, users or the server have sent."`
	Search   string    `json:"search" doc:"Only calls that have this text in their event key, type, trace id, correlation id, address, pipeline or error, in upper or lower case."`
	Payloads bool      `json:"payloads" doc:"The text may also be in the payload; needs the permission trace.payload."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
	Facets   bool      `json:"facets" doc:"Also counts the newest calls that fit, up to 500, by webhook, type, pipeline, status and code; not while a search for a text is not done."`
}

const defaultLimit = 100

func (o Options) get(ctx context.Context, p getParams) (out sluice.TraceAnswer, err error) {
	q, err := o.query(ctx, p)
	if err != nil {
		return out, err
	}
	calls, next, err := o.Journal.Calls(ctx, q)
	if err != nil {
		return out, err
	}
	out.Items, out.Next = make([]sluice.CallView, len(calls)), next
	if out.Searched, err = o.reached(ctx, q, next); err != nil {
		return out, err
	}
	if unfinished := next != "" && len(calls) < q.Limit; p.Facets && !unfinished { // that took long enough
		if out.Facets, err = o.countFacets(ctx, q); err != nil {
			return out, err
		}
	}
	whole := strings.Contains(q.TraceID, ":")
	if whole && slices.ContainsFunc(calls, func(c sluice.Call) bool { return q.Known.Call(&c) }) {
		o.Seen(ctx, "trace.get", q.TraceID)
	}
	for i, call := range calls {
		if out.Items[i], err = o.viewOf(ctx, call, q.Known.Call(&call), whole && i < maxFilled); err != nil {
			return out, err
		}
	}
	return out, nil
}

// reached returns how far back a search for a text has looked, nil if it is done.
func (o Options) reached(ctx context.Context, q sluice.TraceQuery, next string) (*time.Time, error) {
	if q.Text == "" || next == "" {
		return nil, nil
	}
	at, err := o.Journal.Reached(ctx, next)
	return &at, err
}
