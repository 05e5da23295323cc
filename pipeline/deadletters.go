package pipeline

import (
	"cmp"
	"context"
	"time"

	"sluice"
)

// letterParams select dead letters.
type letterParams struct {
	Letter   string    `json:"letter" audit:"yes" doc:"This one only."`
	Pipeline string    `json:"pipeline" audit:"yes" doc:"Only those of this pipeline."`
	Code     string    `json:"code" audit:"yes" doc:"Only those with this error code; deadletter.groups lists the codes."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time."`
	Since    string    `json:"since" audit:"yes" doc:"In place of from: how long ago, such as 30m or 1d."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many. deadletter.get: the newest, default 100; otherwise the oldest, default 1000."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

// query returns what the parameters select, with the limit that holds if there is
// none.
func (p letterParams) query(limit int) (sluice.DeadLetterQuery, error) {
	from, err := sluice.Since(p.From, p.Since)
	return sluice.DeadLetterQuery{
		Letter: p.Letter, Pipeline: p.Pipeline, Code: p.Code, From: from, To: p.To, Limit: cmp.Or(p.Limit, limit), Before: p.After,
	}, err
}

// eachLetter visits the dead letters of a query in small pages, since each may
// hold megabytes, and returns the cursor behind them.
func (r *Runner) eachLetter(ctx context.Context, q sluice.DeadLetterQuery, visit func(sluice.DeadLetter) error) (next string, err error) {
	const page = 16
	for left := q.Limit; ; {
		q.Limit = min(left, page)
		letters, next, err := r.Letters.Letters(ctx, q)
		if err != nil {
			return "", err
		}
		for _, letter := range letters {
			if err := visit(letter); err != nil {
				return "", err
			}
		}
		left -= len(letters)
		if next == "" || left <= 0 {
			return next, nil
		}
		q.Before = next
	}
}

// eachSelected visits the dead letters that a replay or deletion selects.
// Without a selection it refuses: it would mean all of them. It returns the cursor
// behind them.
func (r *Runner) eachSelected(ctx context.Context, p letterParams, visit func(sluice.DeadLetter) error) (next string, err error) {
	const most = 1000
	q, err := p.query(most)
	if err != nil {
		return "", err
	}
	if q.Letter == "" && q.Pipeline == "" && q.Code == "" && q.From.IsZero() && q.To.IsZero() {
		return "", sluice.InvalidParameter("letter", "Say which: give letter, or some of pipeline, code, since, from and to.")
	}
	q.Oldest = true
	found := false
	next, err = r.eachLetter(ctx, q, func(letter sluice.DeadLetter) error {
		found = true
		return visit(letter)
	})
	if err == nil && p.Letter != "" && !found {
		return "", sluice.Errorf(sluice.CodeLetterUnknown, "There is no dead letter %s; deadletter.get lists those there are.", quote(p.Letter))
	}
	return next, err
}

// drop deletes a dead letter, and reports whether it was still there.
func (r *Runner) drop(ctx context.Context, letter string) (dropped bool, err error) {
	err = r.Letters.Drop(ctx, letter)
	if err != nil && sluice.AsError(err).Kind == sluice.NotFound {
		return false, nil
	}
	return err == nil, err
}
