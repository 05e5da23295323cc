package pipeline

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type letterGroupsParams struct {
	Pipeline string    `json:"pipeline" doc:"Only those of this pipeline."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Since    string    `json:"since" doc:"In place of from: how long ago, such as 30m or 1d."`
}

type letterGroups struct {
	Items []sluice.DeadLetterGroup `json:"items"`
}

func letterGroupsCommand(r *Runner) command.Command {
	return command.New("deadletter.groups", "Count dead letters by pipeline and error code, the largest group first.",
		func(ctx context.Context, p letterGroupsParams) (letterGroups, error) {
			q, err := letterParams{Pipeline: p.Pipeline, From: p.From, To: p.To, Since: p.Since}.query(0)
			if err != nil {
				return letterGroups{}, err
			}
			groups, err := r.Letters.Groups(ctx, q)
			return letterGroups{append([]sluice.DeadLetterGroup{}, groups...)}, err
		}, command.ReadOnly)
}
