package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"golang.org/x/time/rate"

	"sluice"
	"sluice/command"
)

// letterParams select dead letters.
type letterParams struct {
	Letter   string    `json:"letter" audit:"yes" names:"listed" doc:"This one only."`
	Pipeline string    `json:"pipeline" audit:"yes" names:"listed" doc:"Only those of this pipeline."`
	Code     string    `json:"code" audit:"yes" doc:"Only those with this error code; deadletter.groups lists the codes."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time."`
	Since    string    `json:"since" audit:"yes" doc:"In place of from: how long ago, such as 30m or 1d."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many. deadletter.get: the newest, default 100; otherwise the oldest, default 1000."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

// query returns what the parameters select. The limit applies if they have none.
func (p letterParams) query(ctx context.Context, limit int) (sluice.DeadLetterQuery, error) {
	from, err := sluice.Since(p.From, p.Since)
	return sluice.DeadLetterQuery{
		Letter: p.Letter, Pipeline: p.Pipeline, Code: p.Code, From: from, To: p.To, Limit: cmp.Or(p.Limit, limit), Before: p.After,
		Cover: sluice.CoverFrom(ctx),
	}, err
}

// eachLetter visits the dead letters of a query and returns the cursor for the next
// query. It reads them in small pages, since each may hold megabytes.
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

// eachSelected visits the dead letters that a replay or deletion selects, and returns
// the cursor for the next one. A selection is required: without one it would mean all.
func (r *Runner) eachSelected(ctx context.Context, p letterParams, visit func(sluice.DeadLetter) error) (next string, err error) {
	const most = 1000
	q, err := p.query(ctx, most)
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
		return "", sluice.Errorf(sluice.CodeLetterUnknown, "There is no dead letter %s; deadletter.get lists those there are.", sluice.Quote(p.Letter))
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

const defaultLetters = 100

func letterGetCommand(r *Runner) command.Command {
	return command.New("deadletter.get", "List dead letters, newest first: events that a pipeline failed on in all its attempts. With letter, the event itself is shown to users who may see payloads.",
		func(ctx context.Context, p letterParams) (sluice.List[sluice.DeadLetter], error) {
			known := sluice.UserFrom(ctx).Cover(sluice.MaySeePayload)
			page := sluice.List[sluice.DeadLetter]{Items: []sluice.DeadLetter{}}
			q, err := p.query(ctx, defaultLetters)
			if err != nil {
				return page, err
			}
			next, err := r.eachLetter(ctx, q, func(letter sluice.DeadLetter) error {
				mayKnow := known.Whole() || known.Event(letter.EventKey)
				if !mayKnow {
					letter.CorrelationID = "" // with it the result can be read
					letter.Error.HideMessage()
				}
				if !mayKnow || p.Letter == "" {
					letter.Event = nil
				} else {
					letter.Event = q.Cover.HeardJSON(letter.Event)
					r.Seen(ctx, "deadletter.get", letter.TraceID)
				}
				page.Items = append(page.Items, letter)
				return nil
			})
			page.Next = next
			return page, err
		}, command.ReadOnly)
}

type letterGroupsParams struct {
	Pipeline string    `json:"pipeline" names:"listed" doc:"Only those of this pipeline."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Since    string    `json:"since" doc:"In place of from: how long ago, such as 30m or 1d."`
}

func letterGroupsCommand(r *Runner) command.Command {
	return command.New("deadletter.groups", "Count dead letters by pipeline and error code, the largest group first.",
		func(ctx context.Context, p letterGroupsParams) (sluice.List[sluice.DeadLetterGroup], error) {
			q, err := letterParams{Pipeline: p.Pipeline, From: p.From, To: p.To, Since: p.Since}.query(ctx, 0)
			if err != nil {
				return sluice.List[sluice.DeadLetterGroup]{}, err
			}
			groups, err := r.Letters.Groups(ctx, q)
			return sluice.List[sluice.DeadLetterGroup]{Items: append([]sluice.DeadLetterGroup{}, groups...)}, err
		}, command.ReadOnly)
}

func letterDeleteCommand(r *Runner) command.Command {
	return command.New("deadletter.delete", "Delete dead letters. Their events can't be replayed any more.",
		func(ctx context.Context, p letterParams) (sluice.Deletions, error) {
			done := sluice.Deletions{}
			next, err := r.eachSelected(ctx, p, func(letter sluice.DeadLetter) error {
				dropped, err := r.drop(ctx, letter.Letter)
				if dropped {
					done.Deleted++
				}
				return err
			})
			done.Next = next
			return done, err
		})
}

type letterReplayParams struct {
	Letter   string    `json:"letter" audit:"yes" names:"listed" doc:"This one only."`
	Pipeline string    `json:"pipeline" audit:"yes" names:"listed" doc:"Only those of this pipeline."`
	Code     string    `json:"code" audit:"yes" doc:"Only those with this error code; deadletter.groups lists the codes."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time."`
	Since    string    `json:"since" audit:"yes" doc:"In place of from: how long ago, such as 30m or 1d."`
	Rate     int       `json:"rate" min:"1" max:"1000" doc:"Events a second. Default 100. Live events go before them in any case."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many, the oldest first. Default 1000."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

const defaultLetterRate = 100

func letterReplayCommand(r *Runner) command.Command {
	return command.New("deadletter.replay", "Replay dead letters, the oldest first: each event goes again to the pipeline that failed on it, under a new trace id, and is no dead letter any more.",
		func(ctx context.Context, p letterReplayParams) (sluice.Replays, error) {
			done := sluice.Replays{Bulk: sluice.Bulk{Items: []sluice.BulkItem{}}}
			pace := rate.NewLimiter(rate.Limit(cmp.Or(p.Rate, defaultLetterRate)), 1)
			selected := letterParams{p.Letter, p.Pipeline, p.Code, p.From, p.To, p.Since, p.Limit, p.After}
			next, err := r.eachSelected(ctx, selected, func(letter sluice.DeadLetter) error {
				if err := pace.Wait(ctx); err != nil {
					return err
				}
				again, err := r.replay(ctx, letter)
				switch {
				case err == nil:
					done.Items = append(done.Items, again)
					done.Replayed++
				case p.Letter == "" && (sluice.CodePipelineNotListening.Is(err) || sluice.CodeLetterUnreadable.Is(err)):
					done.Skipped++
					return nil
				}
				return err
			})
			done.Next = next
			return done, err
		})
}

// replay sends the event of a dead letter to its pipeline again. The letter is deleted
// afterwards: rather twice than never.
func (r *Runner) replay(ctx context.Context, letter sluice.DeadLetter) (sluice.BulkItem, error) {
	if letter.EventCut {
		return sluice.BulkItem{}, sluice.Errorf(sluice.CodeLetterUnreadable, "The event of the dead letter %s was too large to be kept in it; replay the call itself, by its trace id.", sluice.Quote(letter.Letter))
	}
	var event sluice.Event
	if err := json.Unmarshal(letter.Event, &event); err != nil {
		return sluice.BulkItem{}, sluice.Errorf(sluice.CodeLetterUnreadable, "The event of the dead letter %s can't be read.", sluice.Quote(letter.Letter)).Because(err)
	}
	if err := r.listensStill(ctx, letter.Pipeline, &event); err != nil {
		return sluice.BulkItem{}, err
	}
	again, err := event.Replay(ctx, letter.CorrelationID, letter.Pipeline)
	if err != nil {
		return sluice.BulkItem{}, err
	}
	result, err := r.Events.Accept(ctx, again, 0)
	if err != nil {
		return sluice.BulkItem{}, err
	}
	if _, err := r.drop(ctx, letter.Letter); err != nil {
		return sluice.BulkItem{}, err
	}
	done := sluice.BulkItem{Letter: letter.Letter, TraceID: again.TraceID, CorrelationID: result.CorrelationID}
	if known := sluice.UserFrom(ctx).Cover(sluice.MaySeePayload); !known.Whole() && !known.Event(letter.EventKey) {
		done.CorrelationID = ""
	}
	return done, nil
}

// listensStill checks that an event would reach the pipeline it is for.
func (r *Runner) listensStill(ctx context.Context, name string, e *sluice.Event) error {
	stored, err := r.Store.Get(ctx, name)
	if err != nil {
		return err
	}
	if stored == nil || stored.Binding == nil || !sluice.KeyMatches(stored.Binding.Pattern, e.MessageKey()) {
		return sluice.Errorf(sluice.CodePipelineNotListening, "The pipeline %s no longer listens to %s; let it do so, or delete the dead letter.", sluice.Quote(name), e.MessageKey())
	}
	return nil
}
