package pipeline

import (
	"cmp"
	"context"
	"time"

	"sluice"
)

// A letterSelection says which dead letters are meant.
type letterSelection struct {
	Letter   string    `json:"letter" audit:"yes" names:"listed" doc:"This one only."`
	Pipeline string    `json:"pipeline" audit:"yes" names:"listed" doc:"Only those of this pipeline."`
	Code     string    `json:"code" audit:"yes" doc:"Only those with this error code; deadletter.groups lists the codes."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time."`
	Since    string    `json:"since" audit:"yes" doc:"In place of from: how long ago, such as 30m or 1d."`
}

type letterParams struct {
	letterSelection

	Limit int    `json:"limit" min:"1" max:"1000" doc:"At most this many. deadletter.get: the newest, default 100; otherwise the oldest, default 1000."`
	After string `json:"after" doc:"The value of next in the previous answer."`
}

// query returns what the parameters select. The limit applies if they have none.
func (p letterParams) query(ctx context.Context, limit int) (sluice.DeadLetterQuery, error) {
	from, err := sluice.Since(p.From, p.Since)
	return sluice.DeadLetterQuery{
		Letter: p.Letter, Pipeline: p.Pipeline, Code: p.Code, From: from, To: p.To, Limit: cmp.Or(p.Limit, limit),
		Before: p.After,
		Cover:  sluice.CoverFrom(ctx),
	}, err
}

// eachLetter visits the dead letters of a query and returns the cursor for the next
// query. It reads them in small pages, since each may hold megabytes.
func (r *Runner) eachLetter(
	ctx context.Context, q sluice.DeadLetterQuery, visit func(sluice.DeadLetter) error,
) (next string, err error) {
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

// eachSelected visits the dead letters that a replay or deletion selects, and returns
// the cursor for the next one. A selection is required: without one it would mean all.
func (r *Runner) eachSelected(
	ctx context.Context, p letterParams, visit func(sluice.DeadLetter) error,
) (next string, err error) {
	const most = 1000
	q, err := p.query(ctx, most)
	if err != nil {
		return "", err
	}
	if q.Letter == "" && q.Pipeline == "" && q.Code == "" && q.From.IsZero() && q.To.IsZero() {
		return "", sluice.InvalidParameter("letter",
			"Say which: give letter, or some of pipeline, code, since, from and to.")
	}
	q.Oldest = true
	found := false
	next, err = r.eachLetter(ctx, q, func(letter sluice.DeadLetter) error {
		found = true
		return visit(letter)
	})
	if err == nil && p.Letter != "" && !found {
		return "", sluice.CodeLetterUnknown.Errorf(
			"There is no dead letter %s; deadletter.get lists those there are.", sluice.Quote(p.Letter))
	}
	return next, err
}

// drop deletes a dead letter, and reports whether it was still there.
func (r *Runner) drop(ctx context.Context, letter string) (dropped bool, err error) {
	err = r.Letters.Drop(ctx, letter)
	if sluice.NotFound.Is(err) {
		return false, nil
	}
	return err == nil, err
}

const defaultLetters = 100

func (r *Runner) showLetters(ctx context.Context, p letterParams) (page sluice.List[sluice.DeadLetter], err error) {
	page.Items = []sluice.DeadLetter{}
	q, err := p.query(ctx, defaultLetters)
	if err != nil {
		return page, err
	}
	page.Next, err = r.eachLetter(ctx, q, func(letter sluice.DeadLetter) error {
		mayKnow := sluice.UserFrom(ctx).Cover(sluice.MaySeePayload).Event(letter.EventKey)
		if !mayKnow {
			letter.CorrelationID = "" // with it the result can be read
			letter.Error.HideMessage()
		}
		if !mayKnow || p.Letter == "" {
			letter.Event = nil
		} else {
			letter.Event = q.Cover.HideInternalsJSON(letter.Event)
			r.Seen(ctx, "deadletter.get", letter.TraceID)
		}
		page.Items = append(page.Items, letter)
		return nil
	})
	return page, err
}

type letterGroupsParams struct {
	Pipeline string    `json:"pipeline" names:"listed" doc:"Only those of this pipeline."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Since    string    `json:"since" doc:"In place of from: how long ago, such as 30m or 1d."`
}

func (r *Runner) groups(
	ctx context.Context, p letterGroupsParams,
) (list sluice.List[sluice.DeadLetterGroup], err error) {
	q := sluice.DeadLetterQuery{Pipeline: p.Pipeline, To: p.To, Cover: sluice.CoverFrom(ctx)}
	if q.From, err = sluice.Since(p.From, p.Since); err != nil {
		return list, err
	}
	groups, err := r.Letters.Groups(ctx, q)
	list.Items = append([]sluice.DeadLetterGroup{}, groups...)
	return list, err
}

func (r *Runner) deleteLetters(ctx context.Context, p letterParams) (done sluice.Deletions, err error) {
	done.Next, err = r.eachSelected(ctx, p, func(letter sluice.DeadLetter) error {
		dropped, err := r.drop(ctx, letter.Letter)
		if dropped {
			done.Deleted++
		}
		return err
	})
	return done, err
}
