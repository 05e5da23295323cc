package event

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"sluice"
)

// check refuses parameters that don't say which calls are meant.
func (p eraseParams) check() error {
	switch {
	case (p.TraceID == "") == (p.EventKey == ""):
		return sluice.InvalidParameter("traceId", "Give either traceId or eventKey.")
	case p.TraceID != "" && !strings.Contains(p.TraceID, ":"):
		return sluice.InvalidParameter("traceId", "The parameter traceId must be the whole trace id of a call.")
	case p.TraceID != "" && (strings.TrimSpace(p.Search)+p.Type != "" || !p.From.IsZero() || !p.To.IsZero()):
		return sluice.InvalidParameter("traceId", "The parameters type, from, to and search go with eventKey.")
	}
	return sluice.CheckType(p.Type)
}

// find returns the calls to erase, with what was made of them.
func (p eraseParams) find(ctx context.Context, o Options) ([]sluice.Call, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	cover := sluice.CoverFrom(ctx)
	q := sluice.TraceQuery{
		TraceID: strings.ToLower(p.TraceID), EventKey: p.EventKey, Type: p.Type, From: p.From, To: p.To,
		Text: strings.TrimSpace(p.Search), Cover: cover, Known: cover,
	}
	q.InPayload, q.OnlyPayload = q.Text != "", q.Text != ""
	found, err := all(ctx, o.Journal, q, nil)
	if err == nil && q.Type == "" && (p.TraceID == "" || len(found) == 0) { // what was rejected has no type
		found, err = quarantined(ctx, o.Quarantine, q, found)
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && p.TraceID != "" {
		return nil, sluice.CodeEventUnknown.Errorf("No call matches; trace.get finds those there are.")
	}
	found, err = withCopies(ctx, o.Journal, found, cover)
	return slices.DeleteFunc(found, func(c sluice.Call) bool { return c.Erased }), err
}

// quarantined appends the rejected calls of a query that have its text, if there is one, in their
// body: they are no events, so the journal does not look into them. It may not know them at all.
func quarantined(
	ctx context.Context, store sluice.QuarantineStore, q sluice.TraceQuery, found []sluice.Call,
) ([]sluice.Call, error) {
	page := sluice.QuarantineQuery{EventKey: q.EventKey, From: q.From, To: q.To, Limit: 1000, Cover: q.Cover}
	text := bytes.ToLower([]byte(q.Text))
	for more := true; more; more = page.After != "" {
		calls, next, err := store.List(ctx, page)
		if err != nil {
			return nil, err
		}
		page.After = next
		for _, c := range calls {
			if q.TraceID != "" && c.ID != q.TraceID {
				continue
			}
			there := true
			if q.Text != "" {
				if there, err = store.Open(ctx, &c); err != nil {
					return nil, err
				}
			}
			if there && bytes.Contains(bytes.ToLower(c.Request.Body), text) {
				found = append(found, sluice.Call{
					TraceID: c.ID, EventKey: c.EventKey, Time: c.Time, Quarantine: c.ID, Status: sluice.StatusRejected,
				})
			}
		}
	}
	return found, nil
}

// triedAgain is how long senders try a call again that the server could not take. A replay may look
// older than its call, too: clocks are set back.
const triedAgain = 72 * time.Hour

// withCopies adds the calls that repeat others, or let them out of the quarantine, or that could not
// be taken before the sender tried again, and the events that have their trace ids.
func withCopies(
	ctx context.Context, journal sluice.Journal, found []sluice.Call, cover sluice.Cover,
) ([]sluice.Call, error) {
	type delivery struct{ eventKey, id string }
	since, meant, deliveries := map[string]time.Time{}, map[string]bool{}, map[delivery]bool{}
	for _, c := range found {
		meant[c.TraceID] = true
		if c.DeliveryID != "" {
			deliveries[delivery{c.EventKey, c.DeliveryID}] = true
		}
		from := c.Time.Add(-triedAgain)
		if at, known := since[c.EventKey]; c.EventKey != "" && (!known || from.Before(at)) {
			since[c.EventKey] = from
		}
	}
	isCopy := func(c sluice.Call) bool {
		return meant[c.ReplayOf] || meant[c.AdmittedOf] ||
			c.Status == sluice.StatusRejected && deliveries[delivery{c.EventKey, c.DeliveryID}]
	}
	var copies []sluice.Call
	for key, from := range since {
		some, err := all(ctx, journal, sluice.TraceQuery{EventKey: key, From: from, Cover: cover},
			func(c sluice.Call) bool { return c.ReplayOf != "" || c.AdmittedOf != "" || isCopy(c) })
		if err != nil {
			return nil, err
		}
		copies = append(copies, some...)
	}
	for before := -1; before < len(meant); { // there are copies of copies
		before = len(meant)
		for _, c := range copies {
			if isCopy(c) {
				meant[c.TraceID] = true
			}
		}
	}
	return withTraces(ctx, journal, meant, found, cover)
}

// withTraces returns all that has one of the trace ids.
func withTraces(
	ctx context.Context, journal sluice.Journal, ids map[string]bool, found []sluice.Call, cover sluice.Cover,
) (erased []sluice.Call, err error) {
	for id := range ids {
		if call := sluice.CallTraceID(id); call != id && ids[call] {
			continue // it is found with its call
		}
		some, err := all(ctx, journal, sluice.TraceQuery{TraceID: id, Cover: cover}, nil)
		if err != nil {
			return nil, err
		}
		if len(some) == 0 { // only the quarantine knows of it
			some = slices.DeleteFunc(slices.Clone(found), func(c sluice.Call) bool { return c.TraceID != id })
		}
		erased = append(erased, some...)
	}
	slices.SortFunc(erased, func(a, b sluice.Call) int { return a.Time.Compare(b.Time) })
	return erased, nil
}

// all returns the calls of a query that are wanted, all of them if wanted is nil.
func all(
	ctx context.Context, journal sluice.Journal, q sluice.TraceQuery, wanted func(sluice.Call) bool,
) (found []sluice.Call, err error) {
	q.Limit = 1000
	for more := true; more; more = q.Before != "" {
		var calls []sluice.Call
		if calls, q.Before, err = journal.Calls(ctx, q); err != nil {
			return nil, err
		}
		for _, c := range calls {
			if wanted == nil || wanted(c) {
				found = append(found, c)
			}
		}
		if len(found) > maxErased {
			return nil, sluice.CodeTooManyEvents.Errorf(
				"These are more than %d calls; erase them in parts, with from and to.", maxErased)
		}
	}
	return found, nil
}
