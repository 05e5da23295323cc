package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type lettersDeleted struct {
	Deleted int    `json:"deleted"`
	Next    string `json:"next,omitempty"` // for the parameter after, if there may be more
}

func letterDeleteCommand(r *Runner) command.Command {
	return command.New("deadletter.delete", "Delete dead letters. Their events can't be replayed any more.",
		func(ctx context.Context, p letterParams) (lettersDeleted, error) {
			done := lettersDeleted{}
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
