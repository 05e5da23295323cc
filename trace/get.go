package trace

import (
	"context"
	"regexp"
	"strings"
	"time"

	"sluice"
	"sluice/command"
)

// Commands returns the commands that find calls. seen is called when a user sees
// payloads.
func Commands(journal sluice.Journal, results sluice.Results, seen func(ctx context.Context, command, target string)) []command.Command {
	return []command.Command{getCommand(journal, results, seen)}
}

type getParams struct {
	TraceID  string    `json:"traceId" doc:"Trace id of one call, or its part before the colon: the last 6 characters of the token, for all calls of a webhook."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Status   string    `json:"status" enum:"ok,error,processing,rejected,handshake" doc:"Only calls with this status; rejected ones were refused, a handshake was answered as its sender demands."`
	EventKey string    `json:"eventKey" doc:"Only calls of the webhook with this key."`
	Pipeline string    `json:"pipeline" doc:"Only calls that were handed to this pipeline, and runs of it that users started."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls. Default 100."`
	After    string    `json:"after" doc:"The value of next of the page before."`
}

const defaultLimit = 100

type answer struct {
	Items []found `json:"items"`
	Next  string  `json:"next,omitempty"`
}

func getCommand(journal sluice.Journal, results sluice.Results, seen func(ctx context.Context, command, target string)) command.Command {
	return command.New("trace.get", "Find calls, newest first: accepted ones with what pipelines made of them, and refused ones. Users who may see payloads also get the correlation ids, and with a whole trace id the payload and the result.",
		func(ctx context.Context, p getParams) (answer, error) {
			q, err := p.query()
			if err != nil {
				return answer{}, err
			}
			calls, next, err := journal.Calls(ctx, q)
			if err != nil {
				return answer{}, err
			}
			out := answer{Items: make([]found, len(calls)), Next: next}
			whole, mayKnow := strings.Contains(q.TraceID, ":"), sluice.UserFrom(ctx).May(sluice.MaySeePayload)
			if whole && mayKnow && len(calls) > 0 {
				seen(ctx, "trace.get", q.TraceID)
			}
			for i, call := range calls {
				out.Items[i].Call = call
				if !mayKnow {
					out.Items[i].CorrelationID = "" // with it the result can be read
				}
				if !whole || i >= maxShown || !mayKnow {
					out.Items[i].hide()
				} else if err := out.Items[i].show(ctx, journal, results); err != nil {
					return answer{}, err
				}
			}
			return out, nil
		}, command.ReadOnly)
}

var validTraceID = regexp.MustCompile(`^[a-z0-9_-]{1,6}(:[a-z0-9]{1,64})?$`)

func (p getParams) query() (sluice.TraceQuery, error) {
	q := sluice.TraceQuery{
		TraceID:  strings.ToLower(p.TraceID),
		EventKey: p.EventKey,
		Pipeline: p.Pipeline,
		Status:   sluice.Status(p.Status),
		From:     p.From,
		To:       p.To,
		Limit:    p.Limit,
		Before:   p.After,
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if q.TraceID != "" && !validTraceID.MatchString(q.TraceID) {
		return q, sluice.InvalidParameter("traceId", "The parameter traceId must be a trace id, or the up to 6 characters before its colon.")
	}
	if !q.To.IsZero() && q.To.Before(q.From) {
		return q, sluice.InvalidParameter("to", "The parameter to must not be before from.")
	}
	return q, nil
}
