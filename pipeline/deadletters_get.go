package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type letterPage struct {
	Items []sluice.DeadLetter `json:"items"`
	Next  string              `json:"next,omitempty"`
}

const defaultLetters = 100

func letterGetCommand(r *Runner) command.Command {
	return command.New("deadletter.get", "List dead letters, newest first: events that a pipeline failed on in all its attempts. With letter, the event itself is shown to users who may see payloads.",
		func(ctx context.Context, p letterParams) (letterPage, error) {
			mayKnow := sluice.UserFrom(ctx).May(sluice.MaySeePayload)
			page := letterPage{Items: []sluice.DeadLetter{}}
			q, err := p.query(defaultLetters)
			if err != nil {
				return page, err
			}
			next, err := r.eachLetter(ctx, q, func(letter sluice.DeadLetter) error {
				if !mayKnow {
					letter.CorrelationID = "" // with it the result can be read
				}
				if !mayKnow || p.Letter == "" {
					letter.Event = nil
				} else {
					r.Seen(ctx, "deadletter.get", letter.TraceID)
				}
				page.Items = append(page.Items, letter)
				return nil
			})
			page.Next = next
			return page, err
		}, command.ReadOnly)
}
