package pipeline

import (
	"cmp"
	"context"
	"encoding/json"

	"golang.org/x/time/rate"

	"sluice"
)

type letterReplayParams struct {
	letterSelection

	Rate  int    `json:"rate" min:"1" max:"1000" doc:"Events a second. Default 100. Live events go before them in any case."`
	Limit int    `json:"limit" min:"1" max:"1000" doc:"At most this many, the oldest first. Default 1000."`
	After string `json:"after" doc:"The value of next in the previous answer."`
}

const defaultLetterRate = 100

func (r *Runner) replayLetters(ctx context.Context, p letterReplayParams) (done sluice.Replays, err error) {
	done.Items = []sluice.BulkItem{}
	pace := rate.NewLimiter(rate.Limit(cmp.Or(p.Rate, defaultLetterRate)), 1)
	selected := letterParams{p.letterSelection, p.Limit, p.After}
	done.Next, err = r.eachSelected(ctx, selected, func(letter sluice.DeadLetter) error {
		if err := pace.Wait(ctx); err != nil {
			return err
		}
		item, err := r.replay(ctx, letter)
		switch {
		case err == nil:
			done.Items = append(done.Items, item)
			done.Replayed++
		case p.Letter == "" && (sluice.CodePipelineNotListening.Is(err) || sluice.CodeLetterUnreadable.Is(err)):
			done.Skipped++
			return nil
		}
		return err
	})
	return done, err
}

// replay sends the event of a dead letter to its pipeline again. The letter is deleted
// afterwards: rather twice than never.
func (r *Runner) replay(ctx context.Context, letter sluice.DeadLetter) (item sluice.BulkItem, err error) {
	if letter.EventCut {
		return item,
			sluice.CodeLetterUnreadable.Errorf("The event of the dead letter %s was too large to be kept in "+
				"it; replay the call itself, by its trace id.", sluice.Quote(letter.Letter))
	}
	var event sluice.Event
	if err = json.Unmarshal(letter.Event, &event); err != nil {
		return item,
			sluice.CodeLetterUnreadable.Errorf("The event of the dead letter %s can't be read.",
				sluice.Quote(letter.Letter)).Because(err)
	}
	if err = r.listensStill(ctx, letter.Pipeline, &event); err != nil {
		return item, err
	}
	replayed, err := event.Replay(ctx, letter.CorrelationID, letter.Pipeline)
	if err != nil {
		return item, err
	}
	result, err := r.Events.Accept(ctx, replayed, 0)
	if err != nil {
		return item, err
	}
	item.Letter, item.TraceID = letter.Letter, replayed.TraceID
	if sluice.UserFrom(ctx).Cover(sluice.MaySeePayload).Event(letter.EventKey) {
		item.CorrelationID = result.CorrelationID
	}
	_, err = r.drop(ctx, letter.Letter)
	return item, err
}

// listensStill checks that an event would reach the pipeline it is for.
func (r *Runner) listensStill(ctx context.Context, name string, e *sluice.Event) error {
	stored, err := r.Store.Get(ctx, name)
	if err != nil {
		return err
	}
	if stored == nil || stored.Binding == nil || !sluice.KeyMatches(stored.Binding.Pattern, e.MessageKey()) {
		return sluice.CodePipelineNotListening.Errorf(
			"The pipeline %s no longer listens to %s; let it do so, or delete the dead letter.", sluice.Quote(name),
			e.MessageKey())
	}
	return nil
}
