package iam

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice"
)

type auditGetParams struct {
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Username string    `json:"username" doc:"Only what this user did."`
	Command  string    `json:"command" doc:"Only calls of this command; login and logout are there too."`
	Outcome  string    `json:"outcome" enum:"allowed,refused,failed" doc:"Only what ended so: refused means that the user may not, failed that it went wrong."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many entries. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

func (d *Directory) getAudit(ctx context.Context, p auditGetParams) (none sluice.List[sluice.AuditEntry], _ error) {
	entries, next, err := d.audited(ctx, sluice.AuditQuery{
		Username: p.Username, Command: p.Command, Outcome: p.Outcome, From: p.From, To: p.To,
		Limit: cmp.Or(p.Limit, 100), Before: p.After,
	})
	if err != nil {
		return none, err
	}
	return sluice.List[sluice.AuditEntry]{Items: append([]sluice.AuditEntry{}, entries...), Next: next}, nil
}

// storedLate is how long after its time an entry may be stored. One that stands for
// several waits for more of them, and the engine may take a while.
const storedLate = 2 * tallyTime

// audited returns a page of entries, the newest first. The log has them in the order in
// which they were stored, and ends a search by time at the first entry that is too old.
func (d *Directory) audited(
	ctx context.Context, q sluice.AuditQuery,
) (entries []sluice.AuditEntry, next string, err error) {
	from, to := q.From, q.To
	if !from.IsZero() {
		q.From = from.Add(-storedLate)
	}
	if !to.IsZero() {
		q.To = to.Add(storedLate)
	}
	for {
		if entries, next, err = d.Audit.Entries(ctx, q); err != nil {
			return nil, "", err
		}
		found := len(entries)
		entries = slices.DeleteFunc(entries, func(e sluice.AuditEntry) bool {
			return e.Time.Before(from) || !to.IsZero() && e.Time.After(to)
		})
		if len(entries) == 0 && found > 0 && next != "" {
			q.Before = next // nothing on this page is within the span
			continue
		}
		slices.SortStableFunc(entries, func(a, b sluice.AuditEntry) int { return b.Time.Compare(a.Time) })
		return entries, next, nil
	}
}
