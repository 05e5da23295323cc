package pipeline

import (
	"context"
	"encoding/json"

	"sluice"
	"sluice/command"
)

type replays struct {
	Replayed int      `json:"replayed"`
	Items    []replay `json:"items"`
}

// A replay is an event that was sent again.
type replay struct {
	Letter        string `json:"letter"`
	TraceID       string `json:"traceId"`
	CorrelationID string `json:"correlationId,omitempty"` // for who may see payloads
}

func letterReplayCommand(r *Runner) command.Command {
	return command.New("deadletter.replay", "Send events again to the pipelines that failed on them, under new trace ids, and drop their dead letters.",
		func(ctx context.Context, p letterParams) (replays, error) {
			done := replays{Items: []replay{}}
			err := r.eachSelected(ctx, p, func(letter sluice.DeadLetter) error {
				again, err := r.replay(ctx, letter)
				if err == nil {
					done.Items = append(done.Items, again)
					done.Replayed++
				}
				return err
			})
			return done, err
		})
}

// replay sends the event of a dead letter to its pipeline again. Only then the
// letter is deleted: rather twice than never.
func (r *Runner) replay(ctx context.Context, letter sluice.DeadLetter) (replay, error) {
	var event sluice.Event
	if err := json.Unmarshal(letter.Event, &event); err != nil {
		return replay{}, sluice.Errorf(sluice.Internal, "letter-unreadable", "The event of the dead letter %s can't be read.", quote(letter.Letter)).Because(err)
	}
	if err := r.listensStill(ctx, letter.Pipeline, &event); err != nil {
		return replay{}, err
	}
	again := event.Replay(letter.Pipeline)
	result, err := r.Events.Accept(ctx, again, 0)
	if err != nil {
		return replay{}, err
	}
	if _, err := r.drop(ctx, letter.Letter); err != nil {
		return replay{}, err
	}
	done := replay{letter.Letter, again.TraceID, result.CorrelationID}
	if !sluice.UserFrom(ctx).May(sluice.MaySeePayload) {
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
		return sluice.Errorf(sluice.Conflict, "pipeline-not-listening", "The pipeline %s no longer listens to %s; let it do so, or delete the dead letter.", quote(name), e.MessageKey())
	}
	return nil
}
