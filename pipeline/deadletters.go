package pipeline

import (
	"context"
	"time"

	"sluice"
)

// letterParams select dead letters.
type letterParams struct {
	Letter   string    `json:"letter" audit:"yes" doc:"This one only."`
	Pipeline string    `json:"pipeline" audit:"yes" doc:"Only those of this pipeline."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many, newest first. Default 100."`
	After    string    `json:"after" doc:"The value of next of the page before."`
}

const defaultLetters = 100

func (p letterParams) query() sluice.DeadLetterQuery {
	q := sluice.DeadLetterQuery{Letter: p.Letter, Pipeline: p.Pipeline, From: p.From, To: p.To, Limit: p.Limit, Before: p.After}
	if q.Limit == 0 {
		q.Limit = defaultLetters
	}
	return q
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
// Without a selection it refuses: it would mean all of them.
func (r *Runner) eachSelected(ctx context.Context, p letterParams, visit func(sluice.DeadLetter) error) error {
	if p.Letter == "" && p.Pipeline == "" && p.From.IsZero() && p.To.IsZero() {
		return sluice.InvalidParameter("letter", "Say which: give letter, or pipeline, from and to.")
	}
	found := false
	_, err := r.eachLetter(ctx, p.query(), func(letter sluice.DeadLetter) error {
		found = true
		return visit(letter)
	})
	if err == nil && p.Letter != "" && !found {
		return sluice.Errorf(sluice.NotFound, "letter-unknown", "There is no dead letter %s; deadletter.get lists those there are.", quote(p.Letter))
	}
	return err
}

// drop deletes a dead letter, and reports whether it was still there.
func (r *Runner) drop(ctx context.Context, letter string) (dropped bool, err error) {
	err = r.Letters.Drop(ctx, letter)
	if err != nil && sluice.AsError(err).Kind == sluice.NotFound {
		return false, nil
	}
	return err == nil, err
}
