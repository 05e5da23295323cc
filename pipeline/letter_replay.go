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
	return command.New("deadletter.replay", "Replay dead letters, the oldest first: each event goes again to the "+
		"pipeline that failed on it, under a new trace id, and is no dead letter any more.",
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
		return sluice.BulkItem{},
			sluice.Errorf(sluice.CodeLetterUnreadable, "The event of the dead letter %s was too large to be kept in "+
				"it; replay the call itself, by its trace id.", sluice.Quote(letter.Letter))
	}
	var event sluice.Event
	if err := json.Unmarshal(letter.Event, &event); err != nil {
		return sluice.BulkItem{},
			sluice.Errorf(sluice.CodeLetterUnreadable, "The event of the dead letter %s can't be read.",
				sluice.Quote(letter.Letter)).Because(err)
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
		return sluice.Errorf(sluice.CodePipelineNotListening,
			"The pipeline %s no longer listens to %s; let it do so, or delete the dead letter.", sluice.Quote(name),
			e.MessageKey())
	}
	return nil
}
