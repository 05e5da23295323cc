package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type lettersDeleted struct {
	Deleted int `json:"deleted"`
}

func letterDeleteCommand(r *Runner) command.Command {
	return command.New("deadletter.delete", "Delete dead letters for good.",
		func(ctx context.Context, p letterParams) (lettersDeleted, error) {
			done := lettersDeleted{}
			err := r.eachSelected(ctx, p, func(letter sluice.DeadLetter) error {
				dropped, err := r.drop(ctx, letter.Letter)
				if dropped {
					done.Deleted++
				}
				return err
			})
			return done, err
		})
}
