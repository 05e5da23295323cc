package trace

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"sluice"
)

var validTraceID = regexp.MustCompile(`^[a-z0-9_-]{1,6}(:[a-z0-9]{1,64})?$`)

func (o Options) query(ctx context.Context, p getParams) (sluice.TraceQuery, error) {
	user := sluice.UserFrom(ctx)
	mayKnow := user.May(sluice.MaySeePayload)
	q := sluice.TraceQuery{
		TraceID:  strings.ToLower(p.TraceID),
		EventKey: p.EventKey,
		Type:     p.Type,
		Calls:    p.Calls,
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
		return q, sluice.InvalidParameter("traceId",
			"The parameter traceId must be a trace id, or the up to 6 characters before its colon.")
	case p.Payloads && !mayKnow:
		return q, sluice.NotPermitted(sluice.MaySeePayload)
	case len(q.Text) > maxText:
		return q, sluice.InvalidParameter("search", "The parameter search must be at most %d characters.", maxText)
	}
	if err := sluice.CheckType(p.Type); err != nil {
		return q, err
	}
	return o.shortCut(ctx, q)
}

// maxText bounds the text of a search.
const maxText = 200

// shortCut looks up a text that is a whole trace id or correlation id directly, which is
// quick however old the call is.
func (o Options) shortCut(ctx context.Context, q sluice.TraceQuery) (sluice.TraceQuery, error) {
	if q.TraceID != "" || q.InPayload {
		return q, nil
	}
	id := strings.ToLower(q.Text)
	if correlationID.MatchString(id) {
		event, err := o.Journal.Event(ctx, id)
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
