package quarantine

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type deleteParams struct {
	ID       string    `json:"id" audit:"yes" names:"listed" doc:"Id of the one call to delete."`
	EventKey string    `json:"eventKey" audit:"yes" names:"listed" doc:"Deletes calls of the webhook with this key."`
	Code     string    `json:"code" audit:"yes" doc:"Deletes calls that were refused with this code, such as signature-invalid."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls, the oldest first. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

func deleteCommand(k *Keeper) command.Command {
	return command.New("quarantine.delete", "Delete rejected calls that are kept.",
		func(ctx context.Context, p deleteParams) (out sluice.Deletions, err error) {
			calls, next, err := k.choose(ctx, sluice.QuarantineQuery{
				ID: p.ID, EventKey: p.EventKey, Code: p.Code, From: p.From, To: p.To, Limit: p.Limit, After: p.After,
				Cover: sluice.CoverFrom(ctx),
			})
			if err != nil {
				return out, err
			}
			out.Next = next
			for _, c := range calls {
				there, err := k.Store.Drop(ctx, c.ID)
				if err != nil {
					return out, err
				}
				if there {
					out.Deleted++
				}
			}
			return out, nil
		})
}
